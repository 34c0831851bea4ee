import Foundation
import TaskControlHTTP
import TaskControlSupervision

/// The changes of a server's shelf, as they happen: each once and in order, over connections that break off.
actor ChangeFeed {
    private let client: EndpointClient
    private let pause: Duration
    private let clock: any Clock<Duration>
    /// The number of the last change, after which the next connection continues.
    private var last: Int?

    /// Creates a feed of the changes after a number; `nil`: from the next change on. `pause` is the delay before a new connection, of which half is random.
    init(
        client: EndpointClient,
        after number: Int? = nil,
        pause: Duration = .milliseconds(500),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.client, self.pause, self.clock, last) = (client, pause, clock, number)
    }

    /// Follows the changes for as long as the lifetime, or until the client gives a connection up. The feed waits for `perform`.
    nonisolated func start(
        in lifetime: AsyncLifetime,
        perform: @escaping @Sendable (Change) async -> Void
    ) -> SupervisedWork {
        // The client itself repeats a request that may succeed, so its error is for good. A connection that was open is always worth another.
        let backoff = RetryBackoff.custom { [pause] _, error in
            (error as? SupervisionError)?.reason == .completed ? pause : nil
        }
        .jittered(.equal)
        return lifetime.keepRunning(
            "changes",
            limit: .unlimited,
            backoff: backoff,
            clock: self.clock
        ) { run in
            try await self.follow(run, perform)
        }
    }

    /// Follows one connection to its end.
    private func follow(_ run: SupervisedRun, _ perform: @Sendable (Change) async -> Void) async throws {
        try await client.withResponse(to: ChangesEndpoint(after: last)) { response in
            // A feed that breaks off before its first change continues where it began.
            last = last ?? response.head.value(forHTTPHeaderField: ChangesEndpoint.position).flatMap { Int($0) }
            run.markReady()
            do {
                for try await line in response.lines where !line.isEmpty {
                    let change = try JSONDecoder().decode(Change.self, from: Data(line.utf8))
                    await perform(change)
                    last = change.number
                }
            } catch let error as DecodingError {
                throw EndpointError(.content, underlyingError: error)
            } catch let error as EndpointError where error.reason == .transport {
                // Broken off, which is an end like another: the next connection continues.
            }
        }
    }
}
