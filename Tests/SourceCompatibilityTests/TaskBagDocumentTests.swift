import TaskControl
import Testing

@Suite struct TaskBagDocumentTests {
    @Test func emptyBag() {
        TaskBag().cancel()
    }
}
