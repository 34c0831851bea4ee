import TaskControlHTTP

/// The changes of a server's shelf, as they happen.
struct ChangeFeed: Sendable {
    let client: EndpointClient
    /// Between two connections, if the first one brought nothing.
    var pause: Duration = .milliseconds(500)
    var clock: any Clock<Duration> = ContinuousClock()

    /// Continues where it was when the connection breaks off; ends with an error when it can't be had again.
    ///
    /// - Parameter number: The change to begin after; `nil`: the feed begins with the next change.
    func changes(after number: Int? = nil) -> AsyncThrowingStream<Change, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                var last = number
                do {
                    while true {
                        let seen = last
                        last = try await follow(after: seen) { continuation.yield($0) }
                        if last == seen { try await clock.sleep(for: pause) }
                    }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Follows one connection to its end.
    ///
    /// - Returns: The number of the last change.
    private func follow(after number: Int?, _ take: (Change) -> Void) async throws -> Int? {
        try await client.withResponse(to: ChangesEndpoint(after: number)) { response in
            var last = number
            do {
                for try await line in response.lines where !line.isEmpty {
                    let change = try JSONDecoder().decode(Change.self, from: Data(line.utf8))
                    last = change.number
                    take(change)
                }
            } catch let error as DecodingError {
                throw HTTPError(.content, underlyingError: error)
            } catch {
                // Broken off: the next request says whether that is for good.
                try Task.checkCancellation()
            }
            return last
        }
    }
}
