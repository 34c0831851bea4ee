/// Implements all forms of `retry`.
///
/// The first attempt is made here, inlined, so that a call that succeeds at once costs almost nothing: the state that
/// is needed after a failed attempt, ``_Attempts``, is created then. The cost of a failure is small compared with
/// the delay that follows.
@export(implementation)
@inline(__always)
nonisolated(nonsending) func retrying<Value, C: Clock>(
    attempts: Int,
    backoff: RetryBackoff,
    shouldRetry: (any Error) -> Bool,
    budget: RetryBudget?,
    maxElapsed: Duration?,
    condition: (@Sendable () async -> AsyncStream<Bool>)?,
    clock: C,
    onRetry: (RetryEvent) -> Void,
    operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
) async throws -> Value where C.Duration == Duration {
    if attempts < 1 { throw _noAttempts(attempts) }
    var failure: (any Error)?
    // With a limit, `_Attempts` reads the clock first, and then makes the first attempt too.
    if maxElapsed == nil {
        if _isTaskCancelled { throw CancellationError() }
        do {
            let value = try await operation(1)
            budget?._give(1)
            return value
        } catch {
            failure = error
        }
    }
    var run = _Attempts(attempts: attempts, backoff: backoff, budget: budget, maxElapsed: maxElapsed, clock: clock)
    run.condition = condition
    return try await run.retry(
        after: failure,
        shouldRetry: shouldRetry,
        hint: _retryAfter(of:),
        onRetry: onRetry,
        operation: operation
    )
}

/// Implements the attempts of a policy for other modules of this package.
///
/// - Parameters:
///   - policy: The policy. Its `shouldRetry` is ignored.
///   - failure: The error of the first attempt; `nil` if the first attempt has not been made.
///   - clock: Measures the delays.
///   - shouldRetry: Returns whether another attempt may follow an error. Called only if the policy allows one.
///   - hint: Returns how long an error asks to wait; `nil` if it does not ask. Called right after `shouldRetry`.
///   - operation: Makes the attempt with a number.
/// - Returns: The value of the first attempt that succeeds.
/// - Throws: The error of the last attempt; `CancellationError` if the caller is cancelled; the error of the clock, if
///   it cannot sleep.
@usableFromInline
package nonisolated(nonsending) func _retry<Value>(
    _ policy: RetryPolicy,
    after failure: (any Error)?,
    clock: any Clock<Duration>,
    shouldRetry: (any Error) -> Bool,
    hint: (any Error) -> Duration? = _retryAfter(of:),
    operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
) async throws -> Value {
    var run = _Attempts(
        attempts: max(1, policy.attempts),
        backoff: policy.backoff,
        budget: policy.budget,
        maxElapsed: policy.maxElapsed,
        clock: clock
    )
    run.condition = policy.waitingFor
    return try await run.retry(
        after: failure,
        shouldRetry: shouldRetry,
        hint: hint,
        onRetry: { _ in },
        operation: operation
    )
}

/// Returns the hint of an error that conforms to ``RetryAdvising``; `nil` if there is none.
@usableFromInline
func _retryAfter(of error: any Error) -> Duration? { (error as? any RetryAdvising)?.retryAfter }

/// Returns the error of a call of `retry` that allows no attempt: `CancellationError` if its caller is cancelled.
@usableFromInline
func _noAttempts(_ attempts: Int) -> any Error {
    Task.isCancelled ? CancellationError() : NoAttemptError(attempts: attempts)
}

/// The loop of attempts of one call of `retry` or `poll`. A poll is a retry that repeats also if the operation has returned a value.
///
/// Neither generic over the value nor over the clock, so that a program has this code once.
@usableFromInline
struct _Attempts: ~Copyable {
    /// Why an attempt has not ended the call.
    enum Failure {
        /// The operation has thrown the error.
        case thrown(any Error)
        /// The operation has returned a value that the caller does not accept; with the error that states this.
        case unsatisfied(any Error)
        /// Code of the caller other than the operation has thrown the error: no other attempt follows.
        case final(any Error)

        var error: any Error {
            switch self {
            case .thrown(let error), .unsatisfied(let error), .final(let error): error
            }
        }

        var isUnsatisfied: Bool { if case .unsatisfied = self { true } else { false } }
    }

    /// How the attempts have ended.
    enum End {
        case succeeded
        /// No other attempt follows.
        case failed(any Error)
        /// Another attempt would not begin in time, or none follows a value that the caller does not accept; with the error of
        /// the last attempt.
        case late(any Error)

        static func last(_ error: any Error, isLate: Bool) -> End { isLate ? .late(error) : .failed(error) }
    }

    private var machine: AttemptStateMachine
    private let primitive: TaskEvent.Primitive
    private let budget: RetryBudget?
    private let clock: any Clock<Duration>
    /// Returns the reports of the condition for which attempts wait; `nil` for no condition.
    @usableFromInline var condition: (@Sendable () async -> AsyncStream<Bool>)?
    /// Measures the time since the call; `nil` if the call has no `maxElapsed`.
    private let stopwatch: Stopwatch?
    /// The events of the call, from its first failure on; `nil` before that, or if no observer was registered then. A
    /// call that succeeds at once has no events.
    private var events: CallEvents?
    private var loop = FairLoop()

    init(
        _ primitive: TaskEvent.Primitive,
        attempts: Int = .max,
        backoff: RetryBackoff,
        budget: RetryBudget? = nil,
        maxElapsed: Duration? = nil,
        clock: any Clock<Duration>
    ) {
        self.primitive = primitive
        self.budget = budget
        self.clock = clock
        machine = AttemptStateMachine(attempts: attempts, backoff: backoff, maxElapsed: maxElapsed)
        stopwatch = maxElapsed == nil ? nil : Stopwatch(clock)
    }

    /// Creates the attempts of a call of `retry`.
    @usableFromInline
    init(
        attempts: Int,
        backoff: RetryBackoff,
        budget: RetryBudget?,
        maxElapsed: Duration?,
        clock: any Clock<Duration>
    ) {
        self.init(.retry, attempts: attempts, backoff: backoff, budget: budget, maxElapsed: maxElapsed, clock: clock)
    }

    /// Makes the remaining attempts of a call of `retry`, with the closures that were passed to `retry`.
    ///
    /// - Parameters:
    ///   - failure: The error of the first attempt; `nil` if the first attempt has not been made.
    ///   - hint: Returns how long the error asks to wait before the next attempt; `nil` if it does not ask.
    /// - Returns: The value of the first attempt that succeeds.
    /// - Throws: The error that the caller of `retry` receives.
    @usableFromInline
    nonisolated(nonsending) mutating func retry<Value>(
        after failure: (any Error)?,
        shouldRetry: (any Error) -> Bool,
        hint: (any Error) -> Duration?,
        onRetry: (RetryEvent) -> Void,
        operation: nonisolated(nonsending) (_ attempt: Int) async throws -> Value
    ) async throws -> Value {
        var value: Value?
        let end = await run(
            after: failure.map { .thrown($0) },
            shouldRetry: shouldRetry,
            hint: hint,
            onRetry: onRetry
        ) { number in
            do {
                value = try await operation(number)
                return nil
            } catch {
                return .thrown(error)
            }
        }
        switch end {
        case .failed(let error), .late(let error):
            emitEnd(.gaveUp, error)
            throw error
        case .succeeded:
            guard let value else { preconditionFailure("The last attempt has returned a value.") }
            emitEnd(.succeeded)
            return value
        }
    }

    /// Makes attempts until one succeeds or none may follow. Does not emit the event that ends the call.
    ///
    /// - Parameters:
    ///   - failure: The failure of the first attempt; `nil` if the first attempt has not been made.
    ///   - shouldRetry: Returns whether another attempt may follow an error of the operation.
    ///   - hint: Returns how long such an error asks to wait before the next attempt; `nil` if it does not ask.
    ///   - onRetry: Receives each failure after which another attempt is planned.
    ///   - attempt: Makes the attempt with a number. Returns `nil` if the attempt has succeeded.
    nonisolated(nonsending) mutating func run(
        after failure: Failure?,
        shouldRetry: (any Error) -> Bool,
        hint: (any Error) -> Duration?,
        onRetry: (RetryEvent) -> Void,
        attempt: nonisolated(nonsending) (_ number: Int) async -> Failure?
    ) async -> End {
        var failure = failure
        if failure == nil, Task.isCancelled { return .failed(CancellationError()) }
        while true {
            if let failure {
                emit(failure)
                if let end = await end(after: failure, shouldRetry: shouldRetry, hint: hint, onRetry: onRetry) {
                    return end
                }
            }
            failure = await attempt(machine.number)
            if failure == nil {
                budget?._give(machine.tokens ?? 1)
                return .succeeded
            }
        }
    }

    /// Decides whether another attempt follows one that has failed, and if so, waits for the delay.
    ///
    /// - Returns: The end of the attempts; `nil` if another attempt follows.
    private nonisolated(nonsending) mutating func end(
        after failure: Failure,
        shouldRetry: (any Error) -> Bool,
        hint: (any Error) -> Duration?,
        onRetry: (RetryEvent) -> Void
    ) async -> End? {
        if Task.isCancelled { return .failed(CancellationError()) }
        var isLate = failure.isUnsatisfied
        guard let delay = delay(after: failure, shouldRetry: shouldRetry, hint: hint, isLate: &isLate) else {
            // The closures are the caller's: the task may have been cancelled while they ran.
            return Task.isCancelled ? .failed(CancellationError()) : .last(failure.error, isLate: isLate)
        }
        onRetry(RetryEvent(attempt: machine.number, error: failure.error, delay: delay))
        events?.emit(.waiting, .entered(.waiting), attempt: machine.number, delay: delay)
        if let end = await end(during: delay, after: failure) {
            // The next attempt is not made, so its tokens are put back.
            if let budget, let tokens = machine.tokens { budget._give(tokens) }
            return end
        }
        machine.next()
        events?.emit(.retrying, .entered(.running), attempt: machine.number)
        return nil
    }

    /// Returns the delay before the next attempt, and takes its tokens from the budget; `nil` if there is no other attempt.
    ///
    /// - Parameter isLate: Becomes `true` if the next attempt would not begin in time.
    private mutating func delay(
        after failure: Failure,
        shouldRetry: (any Error) -> Bool,
        hint: (any Error) -> Duration?,
        isLate: inout Bool
    ) -> Duration? {
        if case .final = failure { return nil }
        let (error, isThrown) = (failure.error, !failure.isUnsatisfied)
        guard
            machine.mayRepeat, !CancellationCauses.hasEndedAttempts(.running), !isThrown || shouldRetry(error),
            case let hint = isThrown ? hint(error) : nil, let delay = machine.delay(after: error, hint: hint)
        else { return nil }
        guard machine.isInTime(delay, elapsed: stopwatch?.now, remaining: Deadline.current?.remaining) else {
            isLate = true
            return nil
        }
        return isPaid(after: error, isThrottled: hint != nil) ? delay : nil
    }

    /// Waits for the delay before the next attempt.
    ///
    /// - Parameter failure: The failure of the last attempt.
    /// - Returns: The end of the attempts; `nil` if the next attempt is made.
    private nonisolated(nonsending) mutating func end(during delay: Duration, after failure: Failure) async -> End? {
        var isLate = false
        do {
            if let condition {
                let rest = stopwatch.flatMap { machine.rest(elapsed: $0.now) }
                isLate = try await !waitForCondition(condition(), delay: delay, limit: rest, on: clock)
                let remaining = Deadline.current?.remaining
                isLate = isLate || !machine.isInTime(.zero, elapsed: stopwatch?.now, remaining: remaining)
            } else if delay > .zero {
                try await sleep(for: delay, on: clock)
            } else if loop.mustYield() {
                await Task.yield()
            }
        } catch {
            return .failed(Task.isCancelled ? CancellationError() : error)
        }
        // Checked also if there was no delay, or if the clock ignores the cancellation.
        if Task.isCancelled { return .failed(CancellationError()) }
        if isLate { return .late(failure.error) }
        // The owner of the task may have begun its shutdown during the delay.
        guard CancellationCauses.hasEndedAttempts(.running) else { return nil }
        return .last(failure.error, isLate: failure.isUnsatisfied)
    }

    private mutating func isPaid(after error: any Error, isThrottled: Bool) -> Bool {
        guard let budget, !isInterruption(error) else {
            machine.take(nil)
            return true
        }
        machine.take(budget.take(isThrottled: isThrottled))
        return machine.tokens != nil
    }

    private mutating func emit(_ failure: Failure) {
        let (kind, error): (TaskEvent.Kind, (any Error)?)
        switch failure {
        case .thrown(let thrown): (kind, error) = (.failed, thrown)
        case .unsatisfied: (kind, error) = (.unsatisfied, nil)
        case .final: return
        }
        if let events {
            events.emit(kind, error: error, attempt: machine.number)
        } else {
            events = CallEvents.begin(primitive, kind, .running, error: error, attempt: machine.number)
        }
    }

    /// Emits the event that ends the call.
    func emitEnd(_ kind: TaskEvent.Kind, _ error: (any Error)? = nil) {
        events?.end(kind, error == nil ? .completed : .failed, error: error, attempt: machine.number)
    }
}
