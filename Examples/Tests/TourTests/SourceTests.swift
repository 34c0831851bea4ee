import Foundation
import Testing

@testable import tour

/// The sources and the README of the examples.
struct SourceTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Readers copy the examples, and a trace or a snapshot of a program whose owners have no names helps little.
    @Test func everyOwnerHasAName() throws {
        let owners =
            /\b(?:AsyncLifetime|TaskStore|TaskSlot|FIFOQueue|ConcurrentQueue|ActorQueue|AsyncSemaphore|CachedFlight|EndpointClient|CircuitBreaker|RateLimiter)(?:<[^>()]*>)?\(\s*(name:)?/
        let sources = Self.folder.appendingPathComponent("Sources")
        var count = 0
        for case let file as URL in try #require(
            FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
        ) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for owner in text.matches(of: owners) {
                count += 1
                #expect(owner.1 != nil, "\(file.lastPathComponent): \(owner.0)…")
            }
        }
        #expect(count > 20)
    }

    @Test func theREADMEListsEveryChapterInTheOrderOfTheTour() throws {
        let text = try String(contentsOf: Self.folder.appendingPathComponent("README.md"), encoding: .utf8)
        let section = try #require(text.split(separator: "\n## tour\n").last?.split(separator: "\n## ").first)
        let rows = section.matches(of: /(?m)^\| `([a-z-]+)` \|/).map { String($0.1) }
        #expect(rows == Chapters.all.map(\.name))
    }
}
