// The declarations that the blocks of the articles use: each block is compiled beside this file.

import Foundation

struct Item: Identifiable, Hashable, Sendable {
    let id: Int
    var title: String
}

struct API: Sendable {
    func fetchFeed() async throws -> [Item] { [] }
    func search(_ text: String) async throws -> [Item] { [] }
    func save(_ text: String) async throws {}
    func upload(_ file: URL) async throws {}
    func image(of item: Item) async throws -> Data { Data() }
    func updates() -> AsyncStream<Item> { AsyncStream { $0.finish() } }
}
