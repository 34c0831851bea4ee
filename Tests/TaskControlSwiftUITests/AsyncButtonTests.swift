#if canImport(SwiftUI)
import SwiftUI
import TaskControl
import TaskControlTesting
import Testing

@testable import TaskControlSwiftUI

@Suite(.timeLimit(.minutes(15))) @MainActor
struct AsyncButtonTests {
    @Test func aTapWhileTheActionRunsHasNoEffect() async throws {
        let (run, log, proceed) = (AsyncButtonRun(), OrderRecorder<Int>(), Gate())
        for tap in 1...3 {
            run.start {
                log.record(tap)
                try? await proceed.wait()
            }
        }
        #expect(run.isRunning)
        try await log.waitForEvents(count: 1)
        proceed.open()
        await run.end()
        #expect(!run.isRunning)
        #expect(log.events == [1])
        run.start { log.record(4) }
        await run.end()
        #expect(log.events == [1, 4])
    }

    @Test func theActionIsCancelledWhenTheButtonIsReleased() async throws {
        let (began, cancelled) = (Gate(), Gate())
        var run: AsyncButtonRun? = AsyncButtonRun()
        run?.start {
            began.open()
            do { try await Gate().wait() } catch { cancelled.open() }
        }
        try await began.wait()
        weak let weak = run
        run = nil
        #expect(weak == nil)
        try await cancelled.wait()
    }
}

extension AsyncButtonRun {
    /// Waits until no action runs.
    fileprivate func end() async { try? await drain() }
}
#endif
