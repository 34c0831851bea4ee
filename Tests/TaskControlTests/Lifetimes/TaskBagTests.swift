import TaskControl
import Testing

@Suite(.timeLimit(.minutes(1)))
struct TaskBagTests {
    @Test func aNewBagIsEmpty() {
        #expect(TaskBag().count == 0)
    }
}
