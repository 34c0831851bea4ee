import Foundation
import TaskControlTesting
import Testing

@testable import bookshelf

/// The effects of Ctrl-C. One test: signals are the process's.
@Suite(.timeLimit(.minutes(15)))
struct ErrandTests {
    @Test func workEndsAsItDoesOrIsInterrupted() async throws {
        struct Failure: Error {}
        guard case .done = await Errand().run(announce: { _ in }, {}) else {
            Issue.record("it was done")
            return
        }
        let failed = await Errand().run(announce: { _ in }) { throw Failure() }
        guard case .failed(let error) = failed, error is Failure else {
            Issue.record("it failed: \(failed)")
            return
        }
        let (begun, tidied) = (Gate(), Gate())
        async let ending = Errand().run(announce: { _ in }) {
            begun.open()
            try? await Gate().wait()
            // Cancelled, and still heard out.
            tidied.open()
        }
        try await begun.wait()
        kill(getpid(), SIGTERM)
        guard case .interrupted(by: SIGTERM) = await ending else {
            Issue.record("it was interrupted")
            return
        }
        #expect(tidied.isOpen)

        // The first asks, the second takes.
        let (told, teller) = AsyncStream<String>.makeStream()
        let interruption = Interruption {
            teller.yield("first \($0)")
        } onSecond: {
            teller.yield("second")
        } quit: {
            teller.yield("quit \($0)")
        }
        await interruption.waitUntilReady()
        var words = told.makeAsyncIterator()
        kill(getpid(), SIGINT)
        #expect(await words.next() == "first \(SIGINT)")
        kill(getpid(), SIGINT)
        #expect(await words.next() == "second")
        #expect(await words.next() == "quit 130")
        withExtendedLifetime(interruption) {}
    }
}
