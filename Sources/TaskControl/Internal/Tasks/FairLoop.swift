internal import CTaskControl

/// The turns of a loop that can go round without waiting, such as that of a retry without a delay: from time to time other tasks must run. Without
/// that, no other task of the loop's actor would run until the loop ends.
///
/// Before each turn after its first, the loop calls ``mustYield()`` or ``mustYieldAfterShortTurn()``, and `Task.yield()` if the answer is `true`.
@usableFromInline
package struct FairLoop: Sendable {
    /// The number of turns after which other tasks must run, and the time in nanoseconds.
    @usableFromInline static var mostTurns: Int { 100 }
    private static let longestTime: Int64 = 1_000_000

    /// The number of turns since other tasks could run last.
    @usableFromInline var turns = 0
    /// The time at which the first of these turns ended, on the continuous clock. Time is measured for the processor here, not for the client, so this
    /// is not a clock of the client.
    private var begun: Int64 = 0

    @usableFromInline package init() {}

    /// Returns whether other tasks must run before the next turn: they had to wait for 100 turns, or for a millisecond of them.
    @usableFromInline
    package mutating func mustYield() -> Bool {
        let now = tc_continuousNanoseconds()
        if turns == 0 { begun = now }
        turns += 1
        guard turns >= Self.mostTurns || now - begun >= Self.longestTime else { return false }
        turns = 0
        return true
    }

    /// Returns whether other tasks must run before the next turn: they had to wait for 100 turns. For turns in which no code of a client runs, so that
    /// their time need not be measured.
    @export(implementation)
    package mutating func mustYieldAfterShortTurn() -> Bool {
        turns += 1
        guard turns >= Self.mostTurns else { return false }
        turns = 0
        return true
    }
}
