import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ProgressTests {
    @Test func finishingTheTaskFinishesTheProgress() async throws {
        let (mayEnd, ended) = (Gate(), Gate())
        let progress = Progress.running(totalUnitCount: 3) { progress in
            progress.completedUnitCount = 1
            try await mayEnd.wait()
            ended.open()
        }
        try await mayEnd.waitForWaiters()
        #expect((progress.completedUnitCount, progress.totalUnitCount, progress.isFinished) == (1, 3, false))
        mayEnd.open()
        try await ended.wait()
        try await finished(progress)
        #expect((progress.completedUnitCount, progress.totalUnitCount) == (3, 3))
    }

    @Test func cancellingTheProgressCancelsTheTaskAtOnce() async throws {
        let gate = Gate()
        let progress = Progress.running { _ in try await gate.wait() }
        try await gate.waitForWaiters()
        #expect(progress.isIndeterminate)
        progress.cancel()
        #expect(progress.isCancelled)
        try await finished(progress)
        #expect(gate.waiterCount == 0)
    }

    @Test func aProgressThatIsCancelledBeforeItsTaskBeginsKeepsItFromBeginning() throws {
        // Simulated: no task begins before whoever made it suspends.
        try simulate(seeds: 0..<20) { sim in
            let ran = OrderRecorder<Int>()
            let progress = Progress.running { _ in ran.record(1) }
            progress.cancel()
            while !progress.isFinished { await Task.yield() }
            sim.expect(ran.count == 0, "it did not begin")
        }
    }

    @Test func aChildIsCancelledWithItsParent() async throws {
        let gate = Gate()
        let parent = Progress(totalUnitCount: 10)
        let child = Progress.running(totalUnitCount: 2) { progress in
            progress.completedUnitCount = 1
            try await gate.wait()
        }
        try await gate.waitForWaiters()
        parent.addChild(child, withPendingUnitCount: 10)
        #expect(parent.fractionCompleted == 0.5)
        parent.cancel()
        try await finished(child)
        #expect(child.isCancelled)
    }

    @Test func aChildOfACancelledParentIsCancelled() async throws {
        let parent = Progress(totalUnitCount: 1)
        parent.cancel()
        let gate = Gate()
        let child = Progress.running { _ in try await gate.wait() }
        parent.addChild(child, withPendingUnitCount: 1)
        try await finished(child)
        #expect(child.isCancelled)
    }

    @Test func unitsFlowFromChildrenThatTheWorkWaitsFor() async throws {
        let gate = Gate()
        let progress = Progress.running(totalUnitCount: 4) { progress in
            let child = Progress(totalUnitCount: 2)
            progress.addChild(child, withPendingUnitCount: 4)
            child.completedUnitCount = 1
            try await gate.wait()
        }
        try await gate.waitForWaiters()
        #expect(progress.fractionCompleted == 0.5)
        progress.cancel()
        try await finished(progress)
    }

    @Test func aTaskThatIsOverAtOnceLeavesAFinishedProgress() async throws {
        for _ in 0..<1_000 {
            let progress = Progress.running { _ in }
            try await finished(progress)
            #expect((progress.completedUnitCount, progress.totalUnitCount) == (1, 1))
        }
    }

    @Test func aCancellationHandlerMayLookAtTheParent() async throws {
        let parent = Progress.running(totalUnitCount: 1) { progress in
            let gate = Gate()
            let child = Progress.running { _ in
                await withTaskCancellationHandler {
                    await gate.waitIgnoringCancellation()
                } onCancel: {
                    // On another thread, which waits for the parent's lock if it is held meanwhile.
                    DispatchQueue.global().sync { _ = progress.completedUnitCount }
                    gate.open()
                }
            }
            try await gate.waitForWaiters()
            progress.addChild(child, withPendingUnitCount: 1)
            let looking = Thread { progress.cancel() }
            looking.start()
            await gate.waitIgnoringCancellation()
        }
        try await finished(parent)
        #expect(parent.isCancelled)
    }

    @Test func nobodyKeepsAProgressThatHasFinished() async throws {
        try await expectDeallocated {
            let gate = Gate()
            let progress = Progress.running { _ in try await gate.wait() }
            try await gate.waitForWaiters()
            progress.cancel()
            try await finished(progress)
            return progress
        }
    }

    private func finished(_ progress: Progress) async throws {
        // Its task finishes it, and nobody else is told so.
        while !progress.isFinished { await Task.yield() }
    }
}
