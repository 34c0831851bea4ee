internal import TaskControl

/// A clock whose time is moved by the test, so that code that sleeps for minutes is tested without delay.
///
/// ```swift
/// let clock = TestClock()
/// let poller = Task { try await poll(every: .seconds(30), clock: clock) }
/// await clock.advance(by: .seconds(90), waking: 3)          // three rounds
/// ```
///
/// If the test does not check times, use `TestClock(advancesAutomatically: true)`: whenever a task sleeps, time jumps
/// to the earliest deadline.
///
/// ## Ordering
/// The clock resumes sleeping tasks (sleepers) one after another, in the order of their deadlines, and for the same
/// deadline in the order of their calls. When the clock resumes a sleeper, it shows the sleeper's deadline. It does not
/// look for the next sleeper before the `sleep` of the resumed one has returned. Time never runs backwards.
///
/// The work of a task after its `sleep` has returned is concurrent with the clock and with the test. Therefore:
/// - If one task sleeps several times, pass the number of sleeps to ``advance(by:waking:)``. Time then stands still until the task sleeps
///   again, regardless of its other work and of its executor.
/// - If several tasks sleep several times, wait with ``waitForSleepers(count:)`` until all of them sleep, and then advance to the next
///   deadline only. Otherwise time moves on as soon as one of them sleeps.
/// - Before the test checks the effect of a task, it must wait for this effect: for the task's value, an event of an ``OrderRecorder``, or
///   a ``Gate``. ``sleeperCount`` needs no wait: a sleeper that has been resumed is not counted.
///
/// If the test and its tasks run on the same actor, and the tasks call ``sleep(until:tolerance:)`` directly, a resumed task runs to its
/// next suspension before time moves on.
///
/// With `advancesAutomatically`, the clock guarantees only the order of deadlines among the tasks that sleep when time jumps.
public final class TestClock: Clock, Sendable {
    /// An instant of a ``TestClock``.
    public struct Instant: InstantProtocol, Hashable, CustomStringConvertible {
        /// The time since the clock was created.
        public let offset: Duration

        /// The instant that every test clock shows when it is created.
        public static let zero = Instant(offset: .zero)

        /// Creates an instant at an offset from the creation of the clock.
        ///
        /// - Parameter offset: The time since the clock was created.
        public init(offset: Duration) {
            self.offset = offset.bounded
        }

        /// Returns the instant that is later by a duration, or earlier if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration.bounded) }

        /// Returns the time from this instant to another, negative if the other is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns whether an instant is earlier than another.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }

        /// The time since the clock was created.
        public var description: String { "\(offset)" }
    }

    private let time = Level(Instant.zero)
    /// The number of sleeps that have begun so far. Functions that move time wait until this number increases.
    private let arrivals = Level(0)
    /// The number of sleeping tasks that the functions that move time have resumed so far. ``landings`` counts those of
    /// them whose `sleep` has returned.
    private let wakes = Locked(0)
    private let landings = Level(0)
    private let advancesAutomatically: Bool
    private let jump = Locked(JumpStateMachine())

    /// Creates a clock at ``Instant/zero``.
    ///
    /// - Parameter advancesAutomatically: Whether time jumps to the earliest deadline whenever a task sleeps, even if
    ///   other tasks still run. If it is `false`, only the test moves time, with ``advance(by:waking:)``,
    ///   ``advance(to:waking:)`` and ``run(waking:)``.
    public init(advancesAutomatically: Bool = false) {
        self.advancesAutomatically = advancesAutomatically
    }

    /// The current instant of the clock.
    public var now: Instant { time.value }

    /// The smallest difference between two times that the clock can measure: zero, since a sleep ends exactly at its
    /// deadline.
    public var minimumResolution: Duration { .zero }

    // MARK: Sleeping

    /// Waits until the clock has reached the deadline. Returns at once if the deadline is not later than ``now``,
    /// unless the caller is cancelled.
    ///
    /// ## Cancellation
    /// If the caller is cancelled while it sleeps, this function throws at once. If the caller was cancelled before the
    /// call, this function throws, even if the deadline has passed. If the clock reaches the deadline while the caller
    /// sleeps, and the caller is cancelled afterwards, this function returns normally.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the caller continues.
    ///   - tolerance: Not used: no sleep ends late.
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    /// - Complexity: O(log *n*) in the number of sleepers, amortized; O(1) if no sleeper has a later deadline.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws(CancellationError) {
        let hasSlept = try await time.wait(for: deadline) {
            arrivals.move { $0 += 1 }
            if advancesAutomatically { sleeperCame() }
        }
        if hasSlept { landings.move { $0 += 1 } }
    }

    /// The number of tasks that sleep on this clock.
    public var sleeperCount: Int { time.waiterCount }

    /// Waits until at least the given number of tasks sleep on this clock at the same moment.
    ///
    /// The next call of ``advance(by:waking:)`` then finds these tasks asleep, unless other code advances the clock or
    /// cancels the tasks meanwhile. A task that was cancelled before its sleep does not sleep, and is not counted.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function throws at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    public func waitForSleepers(count: Int = 1) async throws(CancellationError) {
        try await time.wait(forWaiters: count)
    }

    // MARK: Moving time

    /// Advances time by a duration, from deadline to deadline, and resumes the sleeping tasks whose deadlines it
    /// reaches.
    ///
    /// A sleeper is a task that sleeps on this clock. The call returns when the clock shows the new time, the `sleep`
    /// of each resumed sleeper has returned, and at least `count` sleepers have been resumed. As long as fewer have
    /// been resumed, the call waits for tasks that begin to sleep with a deadline up to the new time, and time stands
    /// still while it waits. The call resumes all sleepers whose deadlines are not after the new time, even if they are
    /// more than `count`. The further work of the resumed tasks is concurrent with the caller: see Ordering at
    /// ``TestClock``. Traps if the duration is negative.
    ///
    /// ## Cancellation
    /// Once the caller is cancelled, the call no longer waits: it resumes the sleepers whose deadlines are not after
    /// the new time, sets the clock to the new time, and returns.
    ///
    /// - Parameters:
    ///   - duration: The duration by which the clock is moved: zero or more.
    ///   - count: The minimum number of sleeps that must end during the call. If fewer sleeps end, the call waits until
    ///     the caller is cancelled.
    /// - Complexity: O(*m* log *n*), where *m* of *n* sleepers are resumed.
    public func advance(by duration: Duration, waking count: Int = 0) async {
        insist(
            duration >= .zero,
            "TestClock.advance(by: \(duration)): time does not run backwards. Advance by zero or more."
        )
        await move(to: now.advanced(by: duration), waking: count)
    }

    /// Advances time to an instant, and resumes the sleeping tasks whose deadlines it reaches. Traps if the instant is
    /// earlier than ``now``.
    ///
    /// Equivalent to ``advance(by:waking:)`` with the duration from now to the instant, including its behavior on cancellation.
    ///
    /// - Parameters:
    ///   - deadline: The instant to which the clock is moved: now or later.
    ///   - count: The minimum number of sleeps that must end during the call. If fewer sleeps end, the call waits until
    ///     the caller is cancelled.
    public func advance(to deadline: Instant, waking count: Int = 0) async {
        insist(
            deadline >= now,
            "TestClock.advance(to: \(deadline)): it is \(now), and time does not run backwards. Advance to now or later."
        )
        await move(to: deadline, waking: count)
    }

    /// Advances time, from deadline to deadline, until at least `count` sleeping tasks have been resumed and no task
    /// sleeps.
    ///
    /// Use this function if the test does not know the delays, such as those of a backoff with jitter. It does not
    /// return while a task sleeps again and again: cancel such a task first, or use ``advance(by:waking:)``. If a
    /// resumed task does other work before it sleeps again, this function can return before the second sleep begins:
    /// pass the total number of sleeps as `count`.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function returns at once, and the clock continues to show the time that it has
    /// reached.
    ///
    /// - Parameter count: The minimum number of sleeps that must end. If fewer sleeps end, the call waits until the
    ///   caller is cancelled.
    public func run(waking count: Int = 0) async {
        await move(to: nil, waking: count)
    }

    /// Advances time and resumes the sleeping tasks (sleepers) whose deadlines it reaches. Waits for more sleepers
    /// until enough have been resumed.
    ///
    /// If a concurrent call has already moved time to the deadline, or beyond, time stays: it never runs backwards.
    ///
    /// - Parameters:
    ///   - deadline: The instant to move to; `nil` to resume every sleeper, and to leave time at the deadline of the
    ///     last one.
    ///   - count: The minimum number of sleepers to resume.
    private func move(to deadline: Instant?, waking count: Int) async {
        var woken = 0
        // Without a deadline, tasks that sleep again and again would keep a cancelled caller here.
        while deadline != nil || !Task.isCancelled {
            // Read before the check for sleepers: a sleep that begins after the check increases the number.
            let arrivalsSeen = arrivals.value
            let isEnough = woken >= count || Task.isCancelled
            if time.step(upTo: deadline, arrives: isEnough) {
                woken += 1
                await wakeHasLanded()
            } else if isEnough {
                return
            } else {
                _ = try? await arrivals.wait(for: arrivalsSeen + 1)
            }
        }
    }

    /// Counts a sleeping task that was resumed, and waits until its `sleep` has returned, or the caller is cancelled.
    private func wakeHasLanded() async {
        let wakes = wakes.withLock { wakes in
            wakes += 1
            return wakes
        }
        _ = try? await landings.wait(for: wakes)
    }

    /// Notes that a task has begun to sleep. If the clock advances automatically, starts a task that moves time until no task sleeps.
    private func sleeperCame() {
        guard jump.withLock({ $0.sleeperCame() }) else { return }
        // Detached, so that the task that moves time inherits neither the priority nor the task-locals of a sleeping
        // task.
        Task.detached(name: "TestClock") {
            repeat { await self.run() } while self.jump.withLock { $0.foundNobody() }
        }
    }
}
