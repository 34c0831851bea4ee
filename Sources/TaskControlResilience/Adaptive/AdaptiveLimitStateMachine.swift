/// The limit of an ``AdaptiveLimiter``: the number of calls that a service can work on at the same time, estimated from how long they take. Pure: a
/// value without a lock, task or closure.
///
///                            ┌──── a queue is certain, or an interval is over ────┐
///     first window ──▶ experiment ◀──────────────────────────────────────────── steady ──▶ grows while there is no queue
///                         │  └── the calls take less time, but not as in the unloaded service: experiment with fewer
///                         └────▶ steady, with another baseline and limit
///
/// The calls are observed in windows. By Little's law, of *n* calls that run, *n* × (1 − baseline / mean) wait in a queue (the estimate of TCP
/// Vegas). While the queue is shorter than a twentieth of the calls, the limit grows. When it is certainly longer than a tenth, the limit falls.
///
/// The baseline is how long a call takes without a queue. An estimate that only compares durations cannot tell a queue
/// from a service that has become slower, and one that averages its baseline grows without end in mild overload.
/// failsafe-go looks for correlations of the past windows for that reason. This machine makes the experiment itself: a
/// window in which fewer calls run at once. If these take less time, the calls before were in a queue. If they take as
/// long, there was no queue, and their duration is the baseline. So a baseline rises only when fewer calls did not
/// help. An experiment follows the first window, since there may already be a queue, and later it is repeated after a
/// number of windows.
///
/// A call that ends at its time limit is a *drop*, and its duration gives no information. When most calls of a window are drops, the limit is halved,
/// and when a call succeeds again, the limit grows with each success up to nine tenths of its former value, as in the slow start of TCP.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. The limit is between the minimum and the maximum.
/// 2. An experiment has a lower limit than the estimate, and lasts for one window.
struct AdaptiveLimitStateMachine: Sendable {
    struct Configuration: Sendable {
        var minimum = 1
        var maximum = 200
        var initial = 20
        /// The shortest time for which the durations of calls are collected before a decision: the shortest *window*, as in failsafe-go.
        var shortestWindow = Duration.seconds(1)
        var longestWindow = Duration.seconds(30)
        /// The number of calls after which a window can end, as in failsafe-go. A window whose calls leave no doubt can
        /// end with fewer.
        var enoughCalls = 50
        var fewestCalls = 10
        /// The average number of running calls from which on the machine looks for a queue, even if the limit is seldom reached.
        var fewestRunning = 4.0
        /// The time after which a window ends even if its mean is not exact, because the durations of its calls differ
        /// much.
        var patience = Duration.seconds(5)
        /// The share of calls in a queue below which the limit grows. Above `longQueue`, it falls.
        var shortQueue = 0.05
        var longQueue = 0.1
        /// The number of windows between the first two measurements of the baseline after a change of the service. It
        /// is small, since the first measurement can be wrong by chance. The number doubles with each further
        /// measurement, up to `longestProbeInterval`.
        var shortestProbeInterval = 3
        var longestProbeInterval = 30
        /// The largest number of windows for which the limit does not grow after its growth has led to a queue.
        var longestPause = 10
    }

    /// An experiment: a window with a lower limit, which shows whether calls take less time if fewer run at once.
    private struct Experiment {
        /// The average number of running calls in the window before the experiment. `mean` is the mean of their durations in seconds.
        var running: Double
        var mean: Double
        /// The limit that was estimated before the first of several experiments in a row.
        var origin: Double
        /// Whether an earlier one of several experiments in a row has shown a queue.
        var hasQueue: Bool
        /// Whether another experiment came directly before this one.
        var isSecond: Bool
        var limit: Int
    }

    private let configuration: Configuration
    /// The limit, except during an experiment. Not rounded, since it grows by fractions.
    private(set) var estimate: Double
    /// The estimated duration of a call without a queue, in seconds; `nil` before the first measurement.
    private(set) var baseline: Double?
    /// The mean duration of the calls of the last window, in seconds; `nil` before the first window has ended.
    private(set) var latestMean: Double?
    private var experiment: Experiment?
    private var window = DurationWindow()
    /// The time from which on calls that end count for the window; `end` is the earliest time at which the window ends.
    private var start = Duration.zero
    private var end: Duration
    /// The number of calls at which the machine checks next whether the window can end.
    private var nextLook: Int
    /// The time of the last change of the limit. Calls that began before it do not count, since they ran under another limit.
    private var changed = Duration.zero
    /// Whether the machine waits for the first end of a call that began after the last change of the limit.
    private var isSettling = true
    /// The limit up to which each success raises the limit, after a window of drops; `nil` otherwise.
    private var recovery: Double?
    /// The time at which the limit was last lowered because of drops.
    private var lastCut = Duration.zero
    /// Whether the limit grew at the end of the last window.
    private var hasGrown = false
    /// Whether the current window was restarted because the service has become slower.
    private var hasRestarted = false
    /// The time at which a call last returned a value.
    private var latestEnd = Duration.zero
    /// The number of further windows for which the limit does not grow; `pauseLength` is the length of the whole pause.
    private var pause = 0
    private var pauseLength = 0
    /// The number of windows between two measurements of the baseline.
    private var probeInterval: Int
    private var windowsUntilProbe: Int

    init(_ configuration: Configuration) {
        self.configuration = configuration
        estimate = Double(configuration.initial)
        end = configuration.shortestWindow
        nextLook = configuration.fewestCalls
        probeInterval = configuration.shortestProbeInterval
        windowsUntilProbe = probeInterval
    }

    /// The number of calls that may run at the same time, also during an experiment.
    var limit: Int { experiment?.limit ?? Int(estimate.rounded()) }

    /// The time without a returned value after which a new window begins: the mean duration of ten calls in sequence,
    /// and at least the shortest window.
    private var idleLimit: Duration { max(configuration.shortestWindow, .seconds(10 * (latestMean ?? 0))) }

    /// Records a call that has returned a value.
    ///
    /// - Parameters:
    ///   - duration: The duration of the call.
    ///   - running: The number of calls that ran when the call began, including itself.
    ///   - now: The time at which it returned.
    /// - Complexity: O(1).
    mutating func record(_ duration: Duration, running: Int, at now: Duration) {
        let (begun, seconds) = (now - duration, duration / .seconds(1))
        // Of the calls that begin together after a pause, the short ones end first: they must not end an old window.
        if begun > latestEnd + idleLimit { beginWindow(at: begun, hasChanged: true) }
        latestEnd = now
        if begun >= changed {
            if isSettling {
                isSettling = false
                // Of the calls that began together, the short ones end first.
                start = now + duration
                end = start + configuration.shortestWindow
            }
            if now >= start {
                let usual = experiment.map { min($0.mean, baseline ?? $0.mean) } ?? latestMean
                let reference = 1.3 * (usual ?? .infinity)
                window.add(seconds, running: running, isFull: running >= limit, reference: reference)
                restartIfSlower(at: now)
            }
        }
        recover(seconds, begun: begun, at: now)
        endWindow(at: now)
    }

    /// Records a call that has ended at its time limit.
    ///
    /// - Parameters:
    ///   - duration: The duration of the call.
    ///   - running: The number of calls that ran when the call began, including itself.
    ///   - now: The time at which it ended.
    /// - Complexity: O(1).
    mutating func drop(_ duration: Duration, running: Int, at now: Duration) {
        // Calls that ran when the limit was halved do not count: most of them are drops, regardless of the new limit.
        if now - duration >= lastCut { window.addDrop(isFull: running >= limit) }
        endWindow(at: now)
    }

    /// Begins the window again if the service has become slower, because the mean of the earlier calls would hide that for seconds. Done once per
    /// window, since all calls afterwards are slow.
    private mutating func restartIfSlower(at now: Duration) {
        guard !hasRestarted, window.isSlowerNow else { return }
        hasRestarted = true
        beginWindow(at: now, hasChanged: false)
    }

    private mutating func recover(_ seconds: Double, begun: Duration, at now: Duration) {
        guard let target = recovery, begun >= lastCut, seconds <= 2 * (baseline ?? seconds) else { return }
        estimate = min(target, estimate + 1)
        guard estimate >= target else { return }
        recovery = nil
        // The limit has fallen because of the drops, and callers wait: the limit grows back at once, and the next
        // experiment is later.
        windowsUntilProbe = configuration.longestProbeInterval
        (pause, pauseLength) = (0, 0)
        beginWindow(at: now, hasChanged: true)
    }

    private mutating func beginWindow(at now: Duration, hasChanged: Bool) {
        window.removeAll()
        (start, end, nextLook) = (now, now + configuration.shortestWindow, configuration.fewestCalls)
        guard hasChanged else { return }
        (changed, isSettling) = (now, true)
    }

    // MARK: - The end of a window

    private mutating func endWindow(at now: Duration) {
        let calls = window.count + window.drops
        let isLast = now >= start + configuration.longestWindow
        // The end of the patience is due at once, not at the next look: in mild overload that would be seconds later.
        let isDue = calls >= nextLook || now >= start + configuration.patience
        guard now >= end, calls >= configuration.fewestCalls, isDue else { return }
        nextLook = max(calls + configuration.fewestCalls, calls + calls / 4)
        let dropped = Double(window.drops) / Double(calls)
        if dropped > 0.5 {
            cut(dropped)
            lastCut = now
            return beginWindow(at: now, hasChanged: true)
        }
        guard window.count >= configuration.fewestCalls else { return }
        let (summary, before) = (window.summary, limit)
        guard isLast || isClear(summary, at: now) else { return }
        latestMean = summary.mean
        recovery = nil
        hasRestarted = false
        if let experiment { judge(experiment, summary) } else { adjust(summary, dropped) }
        keepEstimateInRange()
        beginWindow(at: now, hasChanged: limit != before)
    }

    private mutating func keepEstimateInRange() {
        estimate = min(max(estimate, Double(configuration.minimum)), Double(configuration.maximum))
    }

    private mutating func cut(_ dropped: Double) {
        if recovery == nil { recovery = max(Double(configuration.minimum), 0.9 * estimate) }
        experiment = nil
        estimate *= 1 - dropped / 2
        keepEstimateInRange()
    }

    /// Returns whether the calls of a window suffice for a decision about the limit.
    private func isClear(_ summary: DurationWindow.Summary, at now: Duration) -> Bool {
        let hasPatience = now < start + configuration.patience
        if let experiment {
            // The service has changed.
            if summary.low > 1.2 * experiment.mean { return true }
            // The first baseline is found soon, since the limit may be far above the number of calls that the service
            // can work on. A later baseline is exact, since the limit follows it.
            return summary.error <= (baseline == nil ? 0.025 : 0.015) * summary.mean || !hasPatience
        }
        guard let baseline else {
            // A few calls that take long by chance look like a high load. Near the limit, the decision does not wait
            // for more.
            return 2 * window.mostRunning >= limit || window.count >= configuration.enoughCalls || !hasPatience
        }
        // A queue that leaves no doubt must not grow until the window is over.
        if summary.low > 1.5 * baseline, 2 * window.count >= configuration.enoughCalls { return true }
        guard window.count >= configuration.enoughCalls else { return false }
        // A limit that grows is probably far below the number of calls that the service can work on.
        let bound = summary.mean + summary.error
        if hasGrown, window.isFull, 1 - baseline / bound < configuration.shortQueue { return true }
        return summary.error <= 0.015 * summary.mean || !hasPatience
    }

    // MARK: - Decisions

    private mutating func adjust(_ summary: DurationWindow.Summary, _ dropped: Double) {
        guard let known = baseline else {
            // The service may already have a queue. With little load, no limit is needed yet.
            guard hasLoad(summary) else { return }
            experiment = next(to: summary.running / 2, after: summary)
            if experiment == nil { baseline = summary.mean }
            return
        }
        // A difference that can be due to chance does not lower the baseline, which would otherwise fall with each
        // window.
        let lowered = summary.mean + summary.error
        let baseline = lowered < known ? known + 0.3 * (lowered - known) : known
        self.baseline = baseline
        windowsUntilProbe -= 1
        let hadGrown = hasGrown
        hasGrown = false
        let working = summary.running * baseline / summary.mean
        if hasLoad(summary), summary.low > 0, 1 - baseline / summary.low > configuration.longQueue {
            if hadGrown {
                pauseLength = min(configuration.longestPause, max(2, 2 * pauseLength))
                pause = pauseLength
            } else {
                probeInterval = configuration.shortestProbeInterval
            }
            measureBaseline(with: 0.9 * working, after: summary)
        } else if windowsUntilProbe <= 0, window.isFull {
            probeInterval = min(2 * probeInterval, configuration.longestProbeInterval)
            measureBaseline(with: 0.9 * working, after: summary)
        } else if 1 - baseline / summary.mean < configuration.shortQueue, window.isFull, dropped <= 0.05 {
            grow(again: hadGrown)
        }
    }

    /// Begins an experiment that measures the baseline with the given lower limit, after a window with the given
    /// summary. If its limit would be less than the minimum, no experiment begins, and the mean of the window becomes
    /// the baseline: a baseline that is too low by chance would otherwise keep the limit at the minimum.
    private mutating func measureBaseline(with limit: Double, after summary: DurationWindow.Summary) {
        experiment = next(to: limit, after: summary)
        guard experiment == nil else { return }
        baseline = summary.mean
        windowsUntilProbe = probeInterval
    }

    /// Returns whether enough calls ran in a window for an experiment in which fewer run at once. With less load, a
    /// lower limit would refuse callers that the service can serve.
    private func hasLoad(_ summary: DurationWindow.Summary) -> Bool {
        window.isOftenFull || summary.running >= configuration.fewestRunning
    }

    private mutating func grow(again: Bool) {
        if again { pauseLength = 0 }
        guard pause == 0 else { return pause -= 1 }
        estimate += max(1, estimate / 10)
        hasGrown = true
    }

    /// Creates an experiment, and resets the number of windows until the next experiment.
    ///
    /// - Parameters:
    ///   - limit: The wanted limit. The limit of the experiment is lower where necessary: fewer calls must run than in
    ///     the window before.
    ///   - summary: The summary of the window before the experiment.
    ///   - last: The experiment directly before this one; `nil` if there is none.
    ///   - hasQueue: Whether the experiment that has just ended has shown a queue.
    /// - Returns: The experiment; `nil` if its limit would be less than the minimum.
    private mutating func next(
        to limit: Double,
        after summary: DurationWindow.Summary,
        last: Experiment? = nil,
        hasQueue: Bool = false
    ) -> Experiment? {
        let limit = min(Int(limit.rounded()), Int(summary.running.rounded()) - 1, Int(estimate.rounded()) - 1)
        guard limit >= configuration.minimum else { return nil }
        windowsUntilProbe = probeInterval
        return Experiment(
            running: summary.running,
            mean: summary.mean,
            origin: last?.origin ?? estimate,
            hasQueue: hasQueue || last?.hasQueue ?? false,
            isSecond: last != nil,
            limit: limit
        )
    }

    private mutating func judge(_ experiment: Experiment, _ summary: DurationWindow.Summary) {
        self.experiment = nil
        let proportional = experiment.mean * summary.running / experiment.running
        let isUnaffected = summary.mean >= (experiment.mean + proportional) / 2
        // The calls take longer although fewer ran at once: the service changed during the experiment. Or the service
        // seems to be slower, but the mean of a window during which it changed does not prove that.
        let isUnproved = isUnaffected && !experiment.isSecond && baseline.map { summary.low > 1.2 * $0 } ?? false
        if summary.low > 1.1 * experiment.mean || isUnproved {
            let working = summary.running * (baseline ?? summary.mean) / summary.mean
            self.experiment = next(to: 0.9 * working, after: summary, last: experiment)
            if self.experiment != nil { return }
        }
        if isUnaffected {
            settle(experiment, summary)
        } else {
            followQueue(experiment, summary)
        }
    }

    /// Ends an experiment in which the calls took as long as before, although fewer of them ran at once: there was no
    /// queue. Their mean duration (in `summary`) becomes the baseline. If it differs from the present baseline only by
    /// chance, the average of both becomes the baseline.
    private mutating func settle(_ experiment: Experiment, _ summary: DurationWindow.Summary) {
        // A difference that can be due to chance does not replace the measurements of earlier experiments.
        let isNear = abs((baseline ?? 0) - summary.mean) <= 2 * summary.error
        baseline = isNear ? ((baseline ?? 0) + summary.mean) / 2 : summary.mean
        let working = experiment.running * min(1, summary.mean / experiment.mean)
        let former = experiment.hasQueue ? estimate : experiment.origin
        let isSlower = !experiment.hasQueue && summary.mean > experiment.mean
        estimate = isSlower ? former : max(min(former, spaced(working)), summary.running)
    }

    /// Ends an experiment in which the calls took less time than before (their mean is in `summary`), because fewer of
    /// them ran at once: the calls before it were in a queue. If the mean is about the baseline, the limit becomes the
    /// estimated number of calls that the service works on. Otherwise, or if there is no baseline yet, the limit falls
    /// to about the number of calls that ran at once in the experiment, and another experiment begins with half as
    /// many, unless that is less than the minimum.
    private mutating func followQueue(_ experiment: Experiment, _ summary: DurationWindow.Summary) {
        guard let known = baseline, summary.low <= 1.2 * known, summary.high >= 0.9 * known else {
            estimate = min(estimate, spaced(summary.running))
            self.experiment = next(to: summary.running / 2, after: summary, last: experiment, hasQueue: true)
            if baseline != nil || self.experiment == nil { baseline = min(baseline ?? summary.mean, summary.mean) }
            return
        }
        let weight = summary.mean < known ? 0.5 : 0.3
        let baseline = known + weight * (summary.mean - known)
        self.baseline = baseline
        estimate = spaced(experiment.running * baseline / experiment.mean)
    }

    /// Returns a limit for a number of calls that the service works on: a little more, so that a short queue always keeps the service busy.
    private func spaced(_ working: Double) -> Double { working * (1 + configuration.shortQueue) }
}

extension AdaptiveLimitStateMachine {
    /// Traps if an invariant does not hold.
    func checkInvariants() {
        let range = configuration.minimum...configuration.maximum
        precondition(range.contains(limit), "the limit is between the minimum and the maximum")
        precondition(baseline ?? 1 > 0, "a call takes time")
        guard let experiment else { return }
        precondition(experiment.limit < Int(estimate.rounded()), "an experiment has a lower limit")
    }
}
