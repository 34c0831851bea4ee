internal import TaskControl

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
