internal import TaskControl

/// A limiter of the rate of calls, for a service that accepts only a limited number of calls per second or other
/// period.
///
/// ```swift
/// let limiter = RateLimiter(rate: 100, per: .seconds(1), burst: 20)
///
/// try await limiter.acquire()                               // waits until the call may be made
/// try await limiter.acquire(within: .seconds(2))            // throws at once if that would take longer
/// if limiter.tryAcquire() { try await send(report) }        // never waits
/// ```
///
/// A call takes tokens out of a bucket, which is refilled with `rate` tokens per `period`. A full bucket holds `burst`
/// tokens: after a pause, `burst` calls can be made at the same time. (The three names are parameters of the
/// initializer.) If no call takes more than `burst` tokens at once, at most `burst` + `rate` × *t* / `period` tokens
/// are taken in every interval of length *t*.
///
/// Large work can take several tokens at once: `acquire(5)`. A call that takes more than `burst` tokens waits until the
/// bucket is full, and the calls after it wait until the missing tokens have been refilled too. A call with a weight
/// (number of tokens) of zero or less, such as the size of an empty body, takes nothing, but waits for the calls before
/// it.
///
/// The algorithm is the generic cell rate algorithm (ITU-T I.371), which is exact, and needs no timer to refill the
/// bucket. Safe to use from any thread and any isolation.
///
/// Related: `AsyncSemaphore` limits how many calls run at the same time, regardless of how long they take.
///
/// ## Ordering
/// Callers that wait are admitted in the order of their calls, regardless of their priorities. No call overtakes a
/// caller that waits, not even with a smaller weight.
///
/// ## Cancellation
/// A caller that is cancelled while it waits stops waiting at once and takes nothing, so the callers that wait behind
/// it are admitted earlier.
public final class RateLimiter: PolicyPart {
    private typealias Machine = RateLimiterStateMachine

    /// The name shown in diagnostics; `nil` if the limiter has none.
    public var name: String? { source.name }
    private let source: EventSource
    private let machine: Locked<Machine>
    private let time: Stopwatch

    /// Creates a limiter with a full bucket.
    ///
    /// - Parameters:
    ///   - name: The name shown in diagnostics; `nil` if the limiter has none.
    ///   - rate: The number of tokens that are refilled per `period`. Less than 1 counts as 1.
    ///   - period: The time in which `rate` tokens are refilled. Less than a nanosecond counts as one.
    ///   - burst: The number of tokens in a full bucket. Less than 1 counts as 1. `nil`, the default: as many as
    ///     `rate`, the usual meaning of a limit such as "100 per second". With 1, calls are spaced evenly.
    ///   - clock: Measures the time.
    public init(
        name: String? = nil,
        rate: Int,
        per period: Duration = .seconds(1),
        burst: Int? = nil,
        clock: some Clock<Duration> = ContinuousClock()
    ) {
        let rate = ComputedNumber.count(rate, "RateLimiter(rate:)", .rateLimiter)
        let period = ComputedNumber.duration(period, "RateLimiter(per:)", .rateLimiter)
        let burst = ComputedNumber.count(burst ?? rate, "RateLimiter(burst:)", .rateLimiter)
        source = EventSource(.rateLimiter, name: name)
        machine = Locked(
            Machine(
                interval: max(period / rate, Duration(secondsComponent: 0, attosecondsComponent: 1)),
                burst: burst
            )
        )
        time = Stopwatch(clock)
        source.emit(.created)
    }

    deinit { source.emit(.deallocated) }

    private static func tokens(_ weight: Int) -> Int {
        ComputedNumber.count(weight, atLeast: 0, "RateLimiter.acquire(_:)", .rateLimiter)
    }

    /// The number of available tokens in the bucket. It may have changed by the time the caller uses it.
    public var available: Int {
        let now = time.now
        return machine.withLock { $0.available(at: now) }
    }

    package var hasHistory: Bool {
        let now = time.now
        return machine.withLock { $0.hasHistory(at: now) }
    }

    /// Takes tokens if they are available and no caller waits for tokens. Never waits.
    ///
    /// - Parameter weight: The number of tokens to take. More than `burst` tokens are available when the bucket is
    ///   full: later calls then fail until the excess has been refilled. If it is zero or less, no token is taken, and
    ///   the result is `true`, unless a caller waits, or an earlier call took more than `burst` tokens and the excess
    ///   has not been refilled yet.
    /// - Returns: Whether the tokens were taken.
    /// - Complexity: O(1).
    public func tryAcquire(_ weight: Int = 1) -> Bool {
        let weight = Self.tokens(weight)
        let now = time.now
        let (isTaken, moment) = machine.withLock { ($0.tryAcquire(weight, at: now), Diagnostics.moment) }
        source.emit(isTaken ? .tokensTaken : .callRefused, count: weight, at: moment)
        return isTaken
    }

    /// Takes tokens: now if they are available and no caller waits, otherwise after a wait, when the earlier callers
    /// have taken theirs and the tokens have been refilled.
    ///
    /// ## Cancellation
    /// A cancelled caller receives `CancellationError` at once and takes nothing, also if it was cancelled before the
    /// call.
    ///
    /// - Parameters:
    ///   - weight: The number of tokens to take. A call that takes more than `burst` is admitted when the bucket is
    ///     full, and the next call waits until the excess has been refilled. If it is zero or less, no token is taken,
    ///     but the call waits for the same events as a call that takes a token: its turn, and the refill of such an
    ///     excess.
    ///   - limit: The longest wait. If the wait would be longer, or would end after the caller's deadline
    ///     (`Task.currentDeadline`), ``CallRefusedError`` is thrown at once, and nothing is taken. A negative
    ///     limit counts as zero. By default only the deadline limits the wait.
    /// - Throws: ``CallRefusedError`` if the wait would be longer than the limit, or end after the caller's
    ///   deadline; `CancellationError` if the caller is cancelled; the error of the clock if its `sleep` fails.
    /// - Complexity: O(1).
    public nonisolated(nonsending) func acquire(_ weight: Int = 1, within limit: Duration? = nil) async throws {
        if _isTaskCancelled { throw CancellationError() }
        let weight = Self.tokens(weight)
        var time = PolicyTime()
        if takeAtOnce(weight, &time) { return }
        var limit = limit
        if let remaining = remainingTime() { limit = limit.map { min($0, remaining) } ?? remaining }
        let now = self.time.now(&time.reading)
        let (answer, moment) = machine.withLock { ($0.acquire(weight, within: limit, at: now), Diagnostics.moment) }
        switch answer {
        case .taken: source.emit(.tokensTaken, count: weight, at: moment)
        case .refused(let retryAfter):
            source.emit(.callRefused, count: weight, delay: retryAfter, at: moment)
            throw CallRefusedError(.rateExceeded, name: name, retryAfter: retryAfter)
        case .first: try await waitObserved(weight, nil, from: moment)
        case .line(let id): try await waitObserved(weight, id, from: moment)
        }
    }

    /// Takes a token if it is available and no other caller waits.
    @inline(__always)
    public func enter(at time: inout PolicyTime) -> Void? { takeAtOnce(1, &time) ? () : nil }

    /// Takes a token, after a wait: see ``acquire(_:within:)``.
    public nonisolated(nonsending) func waitToEnter() async throws { try await acquire() }

    /// Does nothing: a token is not returned.
    public func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) {}

    /// Takes `weight` tokens if they are available and no caller waits for tokens.
    ///
    /// - Returns: Whether the tokens were taken. If not, nothing has changed.
    @inline(__always)
    private func takeAtOnce(_ weight: Int, _ time: inout PolicyTime) -> Bool {
        let now = self.time.now(&time.reading)
        let (isTaken, moment) = machine.withLock { ($0.tryAcquire(weight, at: now), Diagnostics.moment) }
        if isTaken { source.emit(.tokensTaken, count: weight, at: moment) }
        return isTaken
    }

    /// Waits for tokens and takes them, and emits the events of the beginning and the end of the wait.
    ///
    /// - Parameters:
    ///   - weight: The number of tokens to take.
    ///   - id: The place of the caller among the waiting callers; `nil` if the caller is the first of them.
    ///   - moment: The moment at which the wait began; `nil` if no observer needs events.
    private nonisolated(nonsending) func waitObserved(_ weight: Int, _ id: Machine.Line.ID?, from moment: EventMoment?)
        async throws
    {
        let subject = moment.map { _ in TaskEvent.Identity(Diagnostics.nextNumber()) }
        source.emit(.waiting, .began(.waiting), about: subject, count: weight, at: moment, isInside: true)
        do {
            try await wait(weight, id)
            guard subject != nil else { return }
            source.emit(.tokensTaken, .ended(.completed), about: subject, count: weight, isInside: true)
        } catch {
            guard subject != nil else { throw error }
            let isCancelled = Task.isCancelled
            source.emit(
                isCancelled ? .left : .failed,
                .ended(isCancelled ? .cancelled : .failed),
                about: subject,
                error: isCancelled ? nil : error,
                count: weight,
                isCancelled: isCancelled,
                isInside: true
            )
            throw error
        }
    }

    /// Waits until the caller's tokens are available and it is the caller's turn, and takes them.
    ///
    /// - Parameters:
    ///   - weight: The number of tokens to take.
    ///   - id: The place of the caller among the waiting callers; `nil` if the caller is the first of them.
    private nonisolated(nonsending) func wait(_ weight: Int, _ id: Machine.Line.ID?) async throws {
        if let id {
            let outcome = await suspend { waiter in
                machine.withLock { $0.park(id, Word(waiter)) }
            } onCancel: {
                machine.withLock { $0.leave(id, weight) }?.resume(returning: .left)
            }
            if outcome == .left {
                CancellationCauses.recordEndOfWait()
                throw CancellationError()
            }
        }
        // The caller is now the first. Only the first caller sleeps, and only it makes the next caller the first.
        do {
            while true {
                try Task.checkCancellation()
                let now = time.now
                switch machine.withLock({ $0.takeFirst(weight, at: now) }) {
                case .taken(let next):
                    next?.resume(returning: .reached)
                    return
                case .wait(let end): try await time.sleep(until: end)
                }
            }
        } catch {
            machine.withLock { $0.leaveFirst(weight) }?.resume(returning: .reached)
            guard Task.isCancelled else { throw error }
            CancellationCauses.recordEndOfWait()
            throw CancellationError()
        }
    }
}
