import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct SequencerTests {
    @Test func whatIsBetweenTwoPointsComesInTheirOrder() async throws {
        for _ in 0..<50 {
            let sequencer = Sequencer(points: 20)
            let recorder = OrderRecorder<Int>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in (0..<10).reversed() {
                    group.addTask {
                        try await sequencer.reach(2 * number)
                        recorder.record(number)
                        try await sequencer.reach(2 * number + 1)
                    }
                }
                try await group.waitForAll()
            }
            try recorder.checkOrder(Array(0..<10))
            #expect(sequencer.isFinished && sequencer.reached == 20)
        }
    }

    @Test func aTaskThatIsCancelledHasNotReachedItsPoint() async throws {
        let sequencer = Sequencer(points: 2)
        let task = Task { try await sequencer.reach(1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await sequencer.reach(0)
        #expect(sequencer.reached == 1 && !sequencer.isFinished)
        try await sequencer.reach(1)
        #expect(sequencer.isFinished)
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func aPointThatIsReachedTwiceTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let sequencer = Sequencer(points: 1)
            try await sequencer.reach(0)
            try await sequencer.reach(0)
        }
        #expect(text(result).contains("Sequencer.reach(0) was called twice"))
    }

    @Test(.oneProcessAtATime) func aPointThatTwoWaitForTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let sequencer = Sequencer(points: 2)
            async let one: Void = sequencer.reach(1)
            async let other: Void = sequencer.reach(1)
            _ = try await (one, other)
        }
        #expect(text(result).contains("Sequencer.reach(1) was called twice"))
    }

    @Test(.oneProcessAtATime) func aPointThatThereIsNotTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await Sequencer(points: 2).reach(2)
        }
        #expect(text(result).contains("the points are 0..<2"))
    }
    #endif
}
