/// Decides whether a condition holds up the next attempt, and whether it ends the delay before this attempt. Pure.
///
/// The condition reports whether it is met: first its state, and then each change.
package struct ConditionStateMachine: Hashable, Sendable {
    /// The last report; `nil` before the first one.
    private var isMet: Bool?
    private var hasEnded = false

    package init() {}

    /// Whether the attempt must wait, also after its delay: the condition is not met, or has not reported yet.
    package var isHolding: Bool { !hasEnded && isMet != true }

    /// Records a report; `nil` if no other one follows, after which the condition holds up nothing any more.
    ///
    /// - Returns: Whether the delay ends now, because the condition is met, and was not met before.
    package mutating func report(_ isMet: Bool?) -> Bool {
        hasEnded = isMet == nil
        defer { self.isMet = isMet }
        return isMet == true && self.isMet == false
    }
}
