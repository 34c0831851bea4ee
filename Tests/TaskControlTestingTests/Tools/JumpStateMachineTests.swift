import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.tags(.machine))
struct JumpStateMachineTests {
    /// All sequences of ten events: a sleeper comes, or a task that moves time has found none.
    @Test func oneTaskMovesTimeAndItLooksAfterEverySleeperThatCame() {
        func search(_ machine: JumpStateMachine, isMoving: Bool, isSomebodyNew: Bool, depth: Int) {
            guard depth > 0 else { return }
            var next = machine
            #expect(next.sleeperCame() == !isMoving, "there is one task")
            search(next, isMoving: true, isSomebodyNew: isMoving, depth: depth - 1)
            guard isMoving else { return }
            next = machine
            #expect(next.foundNobody() == isSomebodyNew, "it ends when it has looked after the last one came")
            search(next, isMoving: isSomebodyNew, isSomebodyNew: false, depth: depth - 1)
        }
        search(JumpStateMachine(), isMoving: false, isSomebodyNew: false, depth: 10)
    }
}
