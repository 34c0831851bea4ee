import Dispatch
import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

@Suite(.timeLimit(.minutes(15)))
struct ProgressTests {
    /// Opens its gate when it is released by the task whose work retains it, which has finished its progress by then.
    private final class End: Sendable {
        let gate = Gate()

        deinit { gate.open() }
    }

    /// Work with a progress, and a gate that opens when the task of that has ended.
    private func running(
        totalUnitCount: Int64 = -1,
        _ operation: @escaping @Sendable (Progress) async throws -> Void
    ) -> (Progress, ended: Gate) {
        let end = End()
        let progress = Progress.start(totalUnitCount: totalUnitCount) { [end] progress in
            try await operation(progress)
            withExtendedLifetime(end) {}
        }
        return (progress, end.gate)
    }

    @Test func finishingTheTaskFinishesTheProgress() async throws {
        let mayEnd = Gate()
        let (progress, ended) = running(totalUnitCount: 3) { progress in
            progress.completedUnitCount = 1
            try await mayEnd.wait()
        }
        try await mayEnd.waitForWaiters()
        #expect((progress.completedUnitCount, progress.totalUnitCount, progress.isFinished) == (1, 3, false))
        mayEnd.open()
        try await ended.wait()
        #expect((progress.completedUnitCount, progress.totalUnitCount, progress.isFinished) == (3, 3, true))
    }

    @Test func cancellingTheProgressCancelsTheTaskAtOnce() async throws {
        let gate = Gate()
        let (progress, ended) = running { _ in try await gate.wait() }
        try await gate.waitForWaiters()
        #expect(progress.isIndeterminate)
        progress.cancel()
        #expect(progress.isCancelled)
        try await ended.wait()
        #expect(progress.isFinished)
    }

    @Test func aProgressThatIsCancelledBeforeItsTaskBeginsKeepsItFromBeginning() throws {
        // Simulated: no task begins before its creator suspends.
        try simulate(seeds: 0..<20) { sim in
            let ran = OrderRecorder<Int>()
            let (progress, ended) = running { _ in ran.record(1) }
            progress.cancel()
            try await ended.wait()
            sim.expect(ran.count == 0, "it did not begin")
            sim.expect(progress.isFinished, "it is finished all the same")
        }
    }

    @Test func aChildIsCancelledWithItsParent() async throws {
        let gate = Gate()
        let parent = Progress(totalUnitCount: 10)
        let (child, ended) = running(totalUnitCount: 2) { progress in
            progress.completedUnitCount = 1
            try await gate.wait()
        }
        try await gate.waitForWaiters()
        parent.addChild(child, withPendingUnitCount: 10)
        #expect(parent.fractionCompleted == 0.5)
        parent.cancel()
        try await ended.wait()
        #expect(child.isCancelled)
    }

    @Test func aChildOfACancelledParentIsCancelled() async throws {
        let parent = Progress(totalUnitCount: 1)
        parent.cancel()
        let gate = Gate()
        let (child, ended) = running { _ in try await gate.wait() }
        parent.addChild(child, withPendingUnitCount: 1)
        try await ended.wait()
        #expect(child.isCancelled)
    }

    @Test func unitsFlowFromChildrenThatTheWorkWaitsFor() async throws {
        let gate = Gate()
        let (progress, ended) = running(totalUnitCount: 4) { progress in
            let child = Progress(totalUnitCount: 2)
            progress.addChild(child, withPendingUnitCount: 4)
            child.completedUnitCount = 1
            try await gate.wait()
        }
        try await gate.waitForWaiters()
        #expect(progress.fractionCompleted == 0.5)
        progress.cancel()
        try await ended.wait()
    }

    @Test func aTaskThatIsOverAtOnceLeavesAFinishedProgress() async throws {
        for _ in 0..<1_000 {
            let (progress, ended) = running { _ in }
            try await ended.wait()
            #expect((progress.completedUnitCount, progress.totalUnitCount) == (1, 1))
        }
    }

    @Test func aCancellationHandlerMayLookAtTheParent() async throws {
        let (parent, ended) = running(totalUnitCount: 1) { progress in
            let gate = Gate()
            let child = Progress.start { _ in
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
        try await ended.wait()
        #expect(parent.isCancelled)
    }

    @Test func nobodyKeepsAProgressThatHasFinished() async throws {
        try await requireDeallocated {
            let gate = Gate()
            let (progress, ended) = running { _ in try await gate.wait() }
            try await gate.waitForWaiters()
            progress.cancel()
            try await ended.wait()
            return progress
        }
    }
}
