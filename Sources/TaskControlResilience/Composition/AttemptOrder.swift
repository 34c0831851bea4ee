public import TaskControl

// The order of the parts, which stands here once: `withPolicy` and the client of TaskControlHTTP read it.
//
//     call ─▶ callParts ─▶ hedging and retries ─▶ attempt ─▶ permits ─▶ breaker ─▶ rate ─▶ attemptParts ─▶ time limit ─▶ operation
//
// The breaker is around the call, outside hedging and retries, and counts it once. The picture shows when it is asked: it
// admits the call when its first attempt has its permit, and an attempt that had to wait asks it again.

/// The parts around each attempt of a call. They come inside hedging and retries, and outside the time limit of the
/// attempt: see `_attempt`.
package struct AttemptOrder: Sendable {
    /// The passes of an attempt for the parts that it has entered.
    package struct Passes: Sendable {
        fileprivate var permit: AsyncSemaphore.Pass?
        fileprivate var hasToken = false
        fileprivate var parts = PartList.noPasses

        init() {}
    }

    /// The part that has admitted an attempt only after a wait.
    enum Wait {
        case permit, token, part
    }

    private let permits: KeptReference<AsyncSemaphore>?
    private let breaker: KeptReference<CircuitBreaker>?
    private let rate: KeptReference<RateLimiter>?
    private let parts: PartList

    init(_ values: _PolicyParts.Values) {
        permits = values.permits.map { KeptReference($0) }
        breaker = values.breaker.map { KeptReference($0) }
        rate = values.rate.map { KeptReference($0) }
        parts = PartList(values.attemptParts)
    }

    /// Enters the parts that the attempt has not entered yet, up to the first for which it must wait.
    ///
    /// - Parameters:
    ///   - passes: The passes of the attempt.
    ///   - call: The call, which the breaker admits.
    ///   - isAfterWait: Whether the attempt has waited, so that the breaker is asked again.
    ///   - time: The time of the attempt.
    /// - Returns: The part for which the attempt must wait; `nil` if it has entered all parts. The caller must then call
    ///   `waitToEnter(_:_:_:)`.
    /// - Throws: The error of the part that refuses the attempt. The caller must then call `leave(_:with:at:)`.
    @inline(__always)
    func enter(
        _ passes: inout Passes,
        _ call: inout some _AdmittedCall,
        isAfterWait: Bool = false,
        at time: inout PolicyTime
    ) throws -> Wait? {
        if let permits, passes.permit == nil {
            guard let permit = permits.with({ $0.enter(at: &time) }) else { return .permit }
            passes.permit = permit
        }
        if let breaker { try breaker.with { try $0.admit(&call, isAfterWait: isAfterWait, at: &time) } }
        if let rate, !passes.hasToken {
            guard rate.with({ $0.enter(at: &time) }) != nil else { return .token }
            passes.hasToken = true
        }
        return try parts.enter(&passes.parts, at: &time) ? nil : .part
    }

    /// Waits for a part that did not admit the attempt at once, and enters the rest. Throws as `enter` does.
    nonisolated(nonsending) func waitToEnter(
        _ wait: Wait,
        _ passes: inout Passes,
        _ call: inout some _AdmittedCall
    ) async throws {
        var next: Wait? = wait
        while let wait = next {
            var isAfterWait = true
            switch wait {
            case .permit:
                // An open circuit refuses the attempt now, not only after a wait that can be long, since the attempts that
                // hold the permits probably hang.
                if let breaker { try breaker.with { $0 }.checkAdmits(&call) }
                if let permits { passes.permit = try await permits.with { $0 }.waitToEnter(&isAfterWait) }
            case .token:
                if let rate { try await rate.with { $0 }.waitToEnter() }
                passes.hasToken = true
            case .part: try await parts.waitToEnterNext(&passes.parts)
            }
            try Task.checkCancellation()
            var time = PolicyTime()
            next = try enter(&passes, &call, isAfterWait: isAfterWait, at: &time)
        }
    }

    /// Leaves the parts that the attempt has entered, from the inside out.
    @inline(__always)
    func leave(_ passes: inout Passes, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        parts.leave(&passes.parts, with: outcome, at: &time)
        guard let permit = passes.permit else { return }
        passes.permit = nil
        permits?.with { $0.leave(permit, with: outcome, at: &time) }
    }
}

/// A caller acquires one permit, and waits in line for it.
extension AsyncSemaphore: PolicyPart {
    /// The permit of a call.
    public typealias Pass = _PermitHolding

    /// Acquires a permit if one is certainly available.
    @inline(__always)
    public func enter(at time: inout PolicyTime) -> Pass? {
        // Otherwise the wait below acquires the permit, at once if one is available, with the events for an observer.
        _takeOne() ? .scoped : nil
    }

    /// Acquires a permit, after a wait for the turn of the caller. A caller that is cancelled holds none, and throws `CancellationError`.
    public nonisolated(nonsending) func waitToEnter() async throws -> Pass {
        var hasWaited = false
        return try await waitToEnter(&hasWaited)
    }

    /// - Parameter hasWaited: Receives whether a permit was not available at once.
    nonisolated(nonsending) func waitToEnter(_ hasWaited: inout Bool) async throws -> Pass {
        var holding = _PermitHolding.scoped
        hasWaited = !_acquireAtOnce(1, &holding)
        if hasWaited { try await _acquireInLine(1, holding) }
        return holding
    }

    /// Releases the permit.
    @inline(__always)
    public func leave(_ pass: Pass, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        _release(1, pass)
    }
}
