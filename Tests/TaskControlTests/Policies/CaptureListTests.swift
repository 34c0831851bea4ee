import TaskControl
import Testing

/// A closure with a capture list, handed over within an actor, runs there too.
@Suite(.timeLimit(.minutes(15)))
struct CaptureListTests {
    actor Account {
        var balance = 0

        func inAll() async throws -> Int {
            let (one, queue, semaphore) = (1, FIFOQueue(), AsyncSemaphore(value: 1))
            try await retry(attempts: 1, backoff: .none) { [one] in
                preconditionIsolated()
                balance += one
            }
            try await withTimeout(.seconds(3_600)) { [one] in
                preconditionIsolated()
                balance += one
            }
            try await queue.run { [one] in
                preconditionIsolated()
                balance += one
            }
            try await semaphore.withPermit { [one] in
                preconditionIsolated()
                balance += one
            }
            return try await withSingleFlight(key: "balance \(ObjectIdentifier(self))") { [one] in
                preconditionIsolated()
                balance += one
                return balance
            }
        }
    }

    @Test func itRunsOnTheActor() async throws {
        #expect(try await Account().inAll() == 5)
    }
}
