public import TaskControl

// The order of the parts, which stands here once: `withPolicy` and the client of TaskControlHTTP read it.
//
//     call ─▶ LimitOrder ─▶ HistoryOrder ─▶ hedging and retries ─▶ attempt ─▶ AttemptOrder ─▶ time limit ─▶ operation
//
// To add a part of this module, write it in a folder of its own, and add its slot here and in `ResiliencePolicy`.

/// The parts around a call that the call leaves when it has ended, from the outside in.
package typealias LimitOrder = Chain<Slot<AsyncSemaphore>, PartList>

/// The parts around a call that the call leaves as soon as its outcome is known. They come inside the limits.
package typealias HistoryOrder = Slot<CircuitBreaker>

/// The parts around each attempt of a call. They come inside hedging and retries, and outside the time limit of the
/// attempt: see `_attempts`.
package typealias AttemptOrder = Chain<Slot<RateLimiter>, PartList>

extension _PolicyParts.Values {
    var limits: LimitOrder { Chain(Slot(concurrentCalls), PartList(callParts)) }
    var histories: HistoryOrder { Slot(breaker) }
    var attempts: AttemptOrder { Chain(Slot(rate), PartList(attemptParts)) }
}

// MARK: How a call goes through an order

/// Parts in an order. A call that waits for a part holds the passes of the parts before it.
package protocol PartOrder: Sendable {
    /// The passes of a call for the parts that it has entered.
    associatedtype Passes: Sendable

    static var noPasses: Passes { get }

    /// Enters the parts that the call has not entered yet, up to the first for which it must wait.
    ///
    /// - Returns: Whether the call has entered all parts. If not, the caller must call `waitToEnter(_:)`.
    /// - Throws: The error of the part that refuses the call. The caller must then call `leave(_:with:at:)`.
    func enter(_ passes: inout Passes, at time: inout PolicyTime) throws -> Bool

    /// Enters the parts that the call has not entered yet, after waits. Throws as `enter(_:at:)` does.
    nonisolated(nonsending) func waitToEnter(_ passes: inout Passes) async throws

    /// Leaves the parts that the call has entered, from the inside out.
    func leave(_ passes: inout Passes, with outcome: PolicyOutcome, at time: inout PolicyTime)
}

/// An order, followed by another.
package struct Chain<First: PartOrder, Rest: PartOrder>: PartOrder {
    package struct Passes: Sendable {
        fileprivate var first = First.noPasses
        fileprivate var rest = Rest.noPasses
    }

    private let first: First
    private let rest: Rest

    init(_ first: First, _ rest: Rest) {
        (self.first, self.rest) = (first, rest)
    }

    package static var noPasses: Passes { Passes() }

    @inline(__always)
    package func enter(_ passes: inout Passes, at time: inout PolicyTime) throws -> Bool {
        guard try first.enter(&passes.first, at: &time) else { return false }
        return try rest.enter(&passes.rest, at: &time)
    }

    package nonisolated(nonsending) func waitToEnter(_ passes: inout Passes) async throws {
        try await first.waitToEnter(&passes.first)
        var time = PolicyTime()
        if try !rest.enter(&passes.rest, at: &time) { try await rest.waitToEnter(&passes.rest) }
    }

    @inline(__always)
    package func leave(_ passes: inout Passes, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        rest.leave(&passes.rest, with: outcome, at: &time)
        first.leave(&passes.first, with: outcome, at: &time)
    }
}

/// The place of a part of this module, which may be absent. The policy retains the part: see `KeptReference`.
package struct Slot<Part: PolicyPart & AnyObject>: PartOrder {
    private let part: KeptReference<Part>?

    init(_ part: Part?) {
        self.part = part.map { KeptReference($0) }
    }

    package static var noPasses: Part.Pass? { nil }

    @inline(__always)
    package func enter(_ pass: inout Part.Pass?, at time: inout PolicyTime) throws -> Bool {
        guard let part, pass == nil else { return true }
        pass = try part.with { try $0.enter(at: &time) }
        return pass != nil
    }

    package nonisolated(nonsending) func waitToEnter(_ pass: inout Part.Pass?) async throws {
        guard let part, pass == nil else { return }
        pass = try await part.with { $0 }.waitToEnter()
    }

    @inline(__always)
    package func leave(_ pass: inout Part.Pass?, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        guard let part, let held = pass else { return }
        pass = nil
        part.with { $0.leave(held, with: outcome, at: &time) }
    }
}

/// Parts of the user of this package, from the outside in.
package struct PartList: PartOrder {
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

    package nonisolated(nonsending) func waitToEnter(_ passes: inout Unmanaged<Entered>?) async throws {
        while let part = parts.dropFirst(Self.count(passes)).first {
            passes = .passRetained(try await part.enteredAfterWait(after: passes))
            var time = PolicyTime()
            if try enter(&passes, at: &time) { return }
        }
    }

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
    public struct Pass: Sendable {
        fileprivate let holding: _PermitHolding
    }

    /// Acquires a permit if one is certainly available.
    @inline(__always)
    public func enter(at time: inout PolicyTime) -> Pass? {
        // Otherwise the wait below acquires the permit, at once if one is available, with the events for an observer.
        _takeOne() ? Pass(holding: .scoped) : nil
    }

    /// Acquires a permit, after a wait for the turn of the caller. A caller that is cancelled holds none, and throws `CancellationError`.
    public nonisolated(nonsending) func waitToEnter() async throws -> Pass {
        var holding = _PermitHolding.scoped
        if !_acquireAtOnce(1, &holding) { try await _acquireInLine(1, holding) }
        return Pass(holding: holding)
    }

    /// Releases the permit.
    @inline(__always)
    public func leave(_ pass: Pass, with outcome: PolicyOutcome, at time: inout PolicyTime) {
        _release(1, pass.holding)
    }
}

/// The parts of a ``ResiliencePolicy``, and values that are computed from them once.
///
/// Immutable, and an object: a policy is passed to each call, and a reference is copied faster than the parts.
@usableFromInline
package final class _PolicyParts: Sendable {
    struct Values: Sendable {
        var concurrentCalls: AsyncSemaphore?
        var callParts: [any PolicyPart] = []
        var breaker: CircuitBreaker?
        var hedging: ResiliencePolicy.Hedging?
        var retry: RetryPolicy?
        var rate: RateLimiter?
        var attemptParts: [any PolicyPart] = []
        var attemptTimeout: Duration?
    }

    let values: Values
    package let limits: LimitOrder
    package let histories: HistoryOrder
    package let attempts: AttemptOrder
    /// Whether there are parts around the attempts.
    @usableFromInline package let hasAttemptParts: Bool
    /// Whether the first attempt can call the operation directly: the policy has no hedging and no time limit, which
    /// need child tasks, and no `maxElapsed`, which needs the time at which the call began.
    @usableFromInline let isDirect: Bool
    /// The budget to which a successful first attempt returns a token; `nil` if no budget pays for retries, or there is
    /// no `retry`.
    let budgetOfSuccess: KeptReference<RetryBudget>?

    init(_ values: Values) {
        self.values = values
        limits = values.limits
        histories = values.histories
        attempts = values.attempts
        hasAttemptParts = values.rate != nil || !values.attemptParts.isEmpty
        isDirect = values.hedging == nil && values.attemptTimeout == nil && values.retry?.maxElapsed == nil
        budgetOfSuccess = values.retry?.budget.map { KeptReference($0) }
    }
}
