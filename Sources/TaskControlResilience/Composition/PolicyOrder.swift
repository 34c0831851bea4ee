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

/// Parts of the user of this package, from the outside in.
package struct PartList: Sendable {
    /// A part that a call has entered, with the pass of the call, and the parts before it.
    ///
    /// A call holds it without a reference count, so that the state of a call is copied and destroyed without cost: each
    /// call leaves all parts that it has entered, and `leaveAll` then releases them.
    package final class Entered: Sendable {
        fileprivate let leave: @Sendable (PolicyOutcome, inout PolicyTime) -> Void
        /// The passes for the parts before this one.
        fileprivate let earlier: Unmanaged<Entered>?
        fileprivate let count: Int

        fileprivate init<Part: PolicyPart>(_ part: Part, _ pass: Part.Pass, after earlier: Unmanaged<Entered>?) {
            leave = { part.leave(pass, with: $0, at: &$1) }
            self.earlier = earlier
            count = PartList.count(earlier) + 1
        }
    }

    private let parts: [any PolicyPart]
    private let isEmpty: Bool

    init(_ parts: [any PolicyPart]) {
        self.parts = parts
        isEmpty = parts.isEmpty
    }

    package static var noPasses: Unmanaged<Entered>? { nil }

    /// Enters the parts that the call has not entered yet, up to the first for which it must wait.
    ///
    /// - Returns: Whether the call has entered all parts. If not, the caller must call `waitToEnterNext(_:)`.
    /// - Throws: The error of the part that refuses the call. The caller must then call `leave(_:with:at:)`.
    @inline(__always)
    package func enter(_ passes: inout Unmanaged<Entered>?, at time: inout PolicyTime) throws -> Bool {
        if isEmpty { return true }
        return try enterAll(&passes, at: &time)
    }

    @inline(never)
    private func enterAll(_ passes: inout Unmanaged<Entered>?, at time: inout PolicyTime) throws -> Bool {
        for part in parts.dropFirst(Self.count(passes)) {
            guard let next = try part.entered(at: &time, after: passes) else { return false }
            passes = .passRetained(next)
        }
        return true
    }

    /// Waits for the part that has not admitted the call at once. Throws as `enter(_:at:)` does.
    package nonisolated(nonsending) func waitToEnterNext(_ passes: inout Unmanaged<Entered>?) async throws {
        guard let part = parts.dropFirst(Self.count(passes)).first else { return }
        passes = .passRetained(try await part.enteredAfterWait(after: passes))
    }

    /// Leaves the parts that the call has entered, from the inside out.
    @inline(__always)
    package func leave(_ passes: inout Unmanaged<Entered>?, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        if passes != nil { leaveAll(&passes, with: outcome, at: &time) }
    }

    @inline(never)
    private func leaveAll(_ passes: inout Unmanaged<Entered>?, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        while let last = passes?.takeRetainedValue() {
            passes = last.earlier
            last.leave(outcome, &time)
        }
    }

    fileprivate static func count(_ passes: Unmanaged<Entered>?) -> Int {
        passes?._withUnsafeGuaranteedRef(\.count) ?? 0
    }
}

extension PolicyPart {
    fileprivate func entered(at time: inout PolicyTime, after passes: Unmanaged<PartList.Entered>?) throws -> PartList
        .Entered?
    {
        try enter(at: &time).map { PartList.Entered(self, $0, after: passes) }
    }

    fileprivate nonisolated(nonsending) func enteredAfterWait(
        after passes: Unmanaged<PartList.Entered>?
    ) async throws -> PartList.Entered {
        PartList.Entered(self, try await waitToEnter(), after: passes)
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
    fileprivate nonisolated(nonsending) func waitToEnter(_ hasWaited: inout Bool) async throws -> Pass {
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

/// The parts of a ``ResiliencePolicy``, and values that are computed from them once.
///
/// Immutable, and an object: a policy is passed to each call, and a reference is copied faster than the parts.
@usableFromInline
package final class _PolicyParts: Sendable {
    struct Values: Sendable {
        var callParts: [any PolicyPart] = []
        var breaker: CircuitBreaker?
        var hedging: ResiliencePolicy.Hedging?
        var retry: RetryPolicy?
        var permits: AsyncSemaphore?
        var rate: RateLimiter?
        var attemptParts: [any PolicyPart] = []
        var attemptTimeout: Duration?
    }

    let values: Values
    /// The parts around a call.
    let calls: PartList
    let attempts: AttemptOrder
    let breaker: KeptReference<CircuitBreaker>?
    /// Whether the attempts enter parts, or their time is measured.
    @usableFromInline package let hasAttemptParts: Bool
    /// Whether the time of the attempts is measured: not for a call that has only one attempt, whose time is that of the
    /// call unless it waits.
    let measuresAttempts: Bool
    /// Whether the parts of a call receive the time in which its attempts were under way.
    let tellsTime: Bool
    /// Whether the first attempt can call the operation directly: the policy has no hedging and no time limit, which
    /// need child tasks, and no `maxElapsed`, which needs the time at which the call began.
    @usableFromInline let isDirect: Bool
    /// The budget to which a successful first attempt returns a token; `nil` if no budget pays for retries, or there is
    /// no `retry`.
    let budgetOfSuccess: KeptReference<RetryBudget>?

    init(_ values: Values) {
        self.values = values
        calls = PartList(values.callParts)
        attempts = AttemptOrder(values)
        breaker = values.breaker.map { KeptReference($0) }
        let hasCallParts = !values.callParts.isEmpty
        let countsSlowCalls = values.breaker?.countsSlowCalls == true
        tellsTime = countsSlowCalls || hasCallParts
        let hasParts = values.breaker != nil || hasCallParts || !values.attemptParts.isEmpty
        hasAttemptParts = hasParts || values.permits != nil || values.rate != nil
        measuresAttempts = tellsTime || hasParts && (values.retry != nil || values.hedging != nil)
        isDirect = values.hedging == nil && values.attemptTimeout == nil && values.retry?.maxElapsed == nil
        budgetOfSuccess = values.retry?.budget.map { KeptReference($0) }
    }

    /// The time by the clock of the breaker, which judges by it, or by the `ContinuousClock` if there is no breaker.
    @inline(__always)
    func now(_ time: inout PolicyTime) -> Duration {
        guard let breaker else { return time.now }
        return breaker.with { $0.stopwatch.now(&time.reading) }
    }
}
