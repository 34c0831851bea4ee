import Benchmark
import Foundation
import TaskControl
import TaskControlHTTP

/// Registers the benchmark of a large answer to a call on the main actor: how long the main actor does nothing else, if the content belongs to no actor,
/// and if it belongs to the main actor.
func registerDecoding() {
    Benchmark.row("Decoding on the main actor") {
        let body = Book.json(ofSize: 5_000_000)
        let client = EndpointClient(baseURL: "http://h", transport: MockTransport { _ in (200, body) })
        var row = Row(
            primitive: "`client.get(_:as:)` on the main actor, 5 MB of JSON: the longest time that it is held",
            baseline: "likewise, `struct Book: @MainActor Decodable`",
            turns: await Turns.take(
                operations: 1,
                baseline: { await longestHold { try await client.get("books", as: [MainBook].self).count } },
                primitive: { await longestHold { try await client.get("books", as: [Book].self).count } }
            )
        )
        row.target = .ratio(atMost: 0.1)
        return row
    }
}

/// Returns the longest time between two turns of another task of the main actor while a call runs there.
@MainActor private func longestHold(_ call: @MainActor () async throws -> Int) async -> Duration {
    let turns = Task { @MainActor in
        let clock = ContinuousClock()
        var (last, longest) = (clock.now, Duration.zero)
        while !Task.isCancelled {
            await Task.yield()
            let now = clock.now
            longest = max(longest, now - last)
            last = now
        }
        return longest
    }
    await Task.yield()
    guard let count = try? await call(), count > 0 else { fatalError("The answer was not decoded.") }
    turns.cancel()
    return await turns.value
}

private struct Book: Codable {
    let id: Int
    let title: String
    let author: String
    let pages: Int
    let price: Double

    static func json(ofSize size: Int) -> Data {
        let books = (0..<size / 100).map {
            Book(id: $0, title: "The book with the number \($0)", author: "Jane Austen", pages: 400, price: 12.5)
        }
        guard let data = try? JSONEncoder().encode(books) else { fatalError("A book can't be encoded.") }
        return data
    }
}

private struct MainBook: @MainActor Decodable {
    let id: Int
    let title: String
    let author: String
    let pages: Int
    let price: Double
}
