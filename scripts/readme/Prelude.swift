// The declarations that the README's examples use.
import TaskControl

struct Item: Sendable {}

struct API: Sendable {
    func fetchFeed() async throws -> [Item] { [] }
    func search(_ text: String) async -> [Item] { [] }
    func save(_ text: String) async {}
    func refresh() async {}
}

struct Thumbnail: Sendable {}

/// The API of a framework, which has no default isolation.
nonisolated struct Library: Sendable {
    struct Request: Sendable {
        func cancel() {}
    }

    func thumbnail(of item: Item, completion: @escaping @Sendable (Result<Thumbnail, any Error>) -> Void) -> Request {
        Request()
    }
}

struct Server: Sendable {
    func heartbeat() async throws {}
    func search(_ text: String) async throws -> [Item] { [] }
    func log(_ error: any Error) {}
}

enum Field: Hashable { case search, draft, feed }

@MainActor final class Model {
    func show(_ items: [Item]) {}
    func apply(_ update: Int) async {}
}

struct Book: Decodable, Sendable {}

func login() async throws -> String { "" }

/// A counter of the reader's own, which observers use: see the article Diagnostics.
nonisolated struct Metrics: Sendable {
    func count(_ name: String, _ label: String) {}
    func flush() async throws {}
}

nonisolated let metrics = Metrics()
