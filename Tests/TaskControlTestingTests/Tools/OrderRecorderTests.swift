import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct OrderRecorderTests {
    @Test func eachTaskFindsItsEventsInItsOrder() async throws {
        let recorder = OrderRecorder<[Int]>()
        for task in 0..<4 {
            Task { for step in 0..<100 { recorder.record([task, step]) } }
        }
        try await recorder.waitForEvents(count: 400)
        let events = recorder.events
        #expect(events.count == 400 && recorder.count == 400)
        for task in 0..<4 { #expect(events.filter { $0[0] == task }.map { $0[1] } == Array(0..<100)) }
    }

    @Test func whoWaitsForEventsSeesThem() async throws {
        for _ in 0..<200 {
            let recorder = OrderRecorder<Int>()
            let waiter = Task {
                try await recorder.waitForEvents(count: 2)
                return recorder.events
            }
            recorder.record(1)
            recorder.record(2)
            #expect(try await waiter.value == [1, 2])
        }
    }

    @Test func tasksThatWaitForAllEarlierEventsRecordInTheirOrder() async throws {
        for _ in 0..<50 {
            let recorder = OrderRecorder<Int>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in (0..<10).reversed() {
                    group.addTask {
                        try await recorder.waitForEvents(count: number)
                        recorder.record(number)
                    }
                }
                try await group.waitForAll()
            }
            try recorder.checkOrder(Array(0..<10))
        }
    }

    @Test func aWaiterThatIsCancelledLeaves() async {
        let recorder = OrderRecorder<Int>()
        let task = Task { try await recorder.waitForEvents(count: 1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func happenedComparesTheFirstOfEach() {
        let recorder = OrderRecorder<String>()
        for event in ["a", "b", "a"] { recorder.record(event) }
        #expect(recorder.happened("a", before: "b"))
        #expect(!recorder.happened("b", before: "a"))
        #expect(!recorder.happened("a", before: "c"))
        #expect(!recorder.happened("c", before: "a"))
    }

    @Test func theErrorSaysWhatDiffers() throws {
        let recorder = OrderRecorder<String>()
        try recorder.checkOrder([])
        for event in ["written", "closed"] { recorder.record(event) }
        try recorder.checkOrder(["written", "closed"])
        let error = #expect(throws: UnexpectedOrderError.self) {
            try recorder.checkOrder(["written", "read", "closed"], filePath: "Store.swift", line: 12, column: 3)
        }
        #expect(
            error?.description == """
                Store.swift:12:3: events came in another order than expected
                  expected: written, read, closed
                  came:     written, closed
                  at 1:     expected read, came closed
                """
        )
        let shorter = #expect(throws: UnexpectedOrderError.self) {
            try recorder.checkOrder(["written", "closed", "opened"])
        }
        #expect(shorter?.firstDifference == 2)
        #expect(shorter?.description.contains("expected opened, came nothing") == true)
        let longer = #expect(throws: UnexpectedOrderError.self) { try recorder.checkOrder([]) }
        #expect(longer?.description.contains("expected: nothing") == true)
        #expect(longer?.location.line == #line - 2)
    }
}
