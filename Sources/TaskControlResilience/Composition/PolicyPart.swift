public import TaskControl

/// A part of a policy: it admits or refuses calls of a service, or lets them wait, and learns how they end.
///
/// The limits and the breaker of this module are parts. Put parts of your own into a
/// ``ResiliencePolicy``, around its calls (``ResiliencePolicy/callParts``) or around each of their attempts
/// (``ResiliencePolicy/attemptParts``), or use a part alone, with ``withPolicy(_:operation:)``.
///
/// ```swift
/// /// Refuses calls while the battery is low.
/// struct BatterySaver: PolicyPart {
///     let battery: Battery
///
///     func enter(at time: inout PolicyTime) throws -> Void? {
///         if battery.isLow { throw CallRefusedError(.init("the battery is low"), name: "BatterySaver") }
///         return ()
///     }
///
///     func leave(_ pass: Void, with outcome: PolicyOutcome, at time: inout PolicyTime) {}
/// }
/// ```
///
/// A call *enters* a part, at once or after a *wait*, and *leaves* it once, with an outcome. A call that a later part
/// refuses, and one that is cancelled while it waits for a later part, leave with ``PolicyOutcome/unknown``.
public protocol PolicyPart<Pass>: Sendable {
    /// The value that a call holds from its entry until it leaves, such as a permit; `Void` if it holds nothing.
    associatedtype Pass: Sendable

    /// Admits a call at once, if it need not wait.
    ///
    /// - Parameter time: The time of the call, which all parts that it enters without a wait share.
    /// - Returns: The pass of the call; `nil` if the call must wait. ``waitToEnter()`` is then called next.
    /// - Throws: ``CallRefusedError`` if the part refuses the call. Around attempts, any other error counts as a failed
    ///   attempt.
    func enter(at time: inout PolicyTime) throws -> Pass?

    /// Waits until the part admits a call for which ``enter(at:)`` has returned `nil`.
    ///
    /// A part that lets no call wait need not implement this function. By default, it asks ``enter(at:)`` once more,
    /// and refuses the call if that returns `nil` again.
    ///
    /// - Returns: The pass of the call.
    /// - Throws: `CancellationError` if the caller is cancelled, which then holds nothing; ``CallRefusedError`` if the
    ///   part refuses the call.
    nonisolated(nonsending) func waitToEnter() async throws -> Pass

    /// Records that a call has ended.
    ///
    /// - Parameters:
    ///   - pass: The pass of the call.
    ///   - outcome: The information about the service that the call gives.
    ///   - time: The time of the end, which all parts that the call leaves share.
    func leave(_ pass: Pass, with outcome: PolicyOutcome, at time: inout PolicyTime)
}

extension PolicyPart {
    /// Asks ``enter(at:)`` once more, and refuses the call with ``CallRefusedError/Reason/full`` if it must wait.
    public nonisolated(nonsending) func waitToEnter() async throws -> Pass {
        var time = PolicyTime()
        guard let pass = try enter(at: &time) else { throw CallRefusedError(.full) }
        return pass
    }
}

/// The information about the service that a call, or an attempt of a call, gives when it ends.
public enum PolicyOutcome: Sendable {
    /// The service has answered.
    case healthy
    /// The call has failed with this error. Each part decides whether it is a failure of the service.
    case failed(any Error)
    /// The call gives no information about the service: its caller was cancelled, the call was interrupted, or nothing
    /// was sent.
    case unknown
}

extension PolicyOutcome {
    /// The outcome of a call that has thrown an error, in the current task. If a limit around the call has ended it, its
    /// time is that of its operation: see ``CircuitBreaker``.
    @usableFromInline
    init(of error: any Error) {
        switch error {
        case is CallRefusedError: self = .unknown
        case _ where _isTaskCancelled:
            let isOfService = CancellationCauses.isOfLimit && CancellationCauses.hasEndedWait == false
            self = isOfService ? .failed(DeadlineExceededError()) : .unknown
        case _ where isInterruption(error): self = .unknown
        default: self = .failed(error)
        }
    }

    /// The outcome as a machine counts it.
    ///
    /// - Parameter isFailure: Returns whether an error is a failure of the service. It is code of the user of this
    ///   package, so this function must not be called while a lock is held.
    @inline(__always)
    func counted(_ isFailure: (any Error) -> Bool) -> CallOutcome {
        switch self {
        case .healthy: .healthy
        case .failed(let error): isFailure(error) ? .failed : .healthy
        case .unknown: .unknown
        }
    }
}

/// The outcome of a call, as the machines of the parts count it.
enum CallOutcome: Hashable, Sendable, CaseIterable {
    /// The service has answered, perhaps with an error that is not a failure.
    case healthy
    /// The service has failed.
    case failed
    /// The call gives no information: the caller was cancelled, or the call was interrupted or not made.
    case unknown
}

/// The time at which a call enters or leaves its parts. The clock is read when the first part asks, and once for all
/// parts.
public struct PolicyTime: Sendable {
    private static let clock = Stopwatch(ContinuousClock())

    var reading = ClockReading()
    /// For a call that leaves its parts: how long its attempts were under way; `nil` if that was not measured.
    var underWay: Duration?

    /// Creates a time that has not been read yet.
    public init() {}

    /// The time of the `ContinuousClock`, counted from a moment that is the same for all values of this type. Parts with
    /// another clock read that clock instead.
    public var now: Duration {
        mutating get { Self.clock.now(&reading) }
    }
}

/// Runs an operation inside one part of a policy, such as a ``CircuitBreaker``.
///
/// ```swift
/// let hits = try await withPolicy(breaker) { try await server.search(text) }
/// ```
///
/// ## Cancellation
/// If the caller was cancelled before the call, the operation does not begin. A caller that is cancelled while it waits
/// stops waiting at once. A caller that is cancelled while the operation runs receives the value if the operation
/// returns one, and otherwise `CancellationError`, regardless of the error that the operation throws.
///
/// - Parameters:
///   - part: The part.
///   - operation: Runs in the caller's task and isolation.
/// - Returns: The value that the operation returns.
/// - Throws: `CancellationError` if the caller is cancelled, unless the operation returns a value. Otherwise
///   ``CallRefusedError`` if the part refuses the call, or the error of the operation.
/// - Complexity: O(1). A call that succeeds allocates nothing.
@export(implementation)
public nonisolated(nonsending) func withPolicy<Value, Part: PolicyPart>(
    _ part: Part,
    operation: nonisolated(nonsending) () async throws -> Value
) async throws -> Value {
    if _isTaskCancelled { throw CancellationError() }
    var time = PolicyTime()
    let pass: Part.Pass
    do {
        pass = if let pass = try part.enter(at: &time) { pass } else { try await part.waitToEnter() }
    } catch {
        throw _isTaskCancelled ? CancellationError() : error
    }
    do {
        let value = try await operation()
        time = PolicyTime()
        part.leave(pass, with: .healthy, at: &time)
        return value
    } catch {
        time = PolicyTime()
        part.leave(pass, with: PolicyOutcome(of: error), at: &time)
        throw _isTaskCancelled ? CancellationError() : error
    }
}
