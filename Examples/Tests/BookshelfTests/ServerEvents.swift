import Foundation
import Testing

@testable import bookshelf

/// The events of a server, for a test to read and to wait for.
final class ServerEvents: Sendable {
    private let lock = NSLock()
    // Only under the lock.
    private nonisolated(unsafe) var events: [ServerEvent] = []
    private let stream: AsyncStream<ServerEvent>
    private let continuation: AsyncStream<ServerEvent>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func add(_ event: ServerEvent) {
        lock.withLock { events.append(event) }
        continuation.yield(event)
    }

    var all: [ServerEvent] { lock.withLock { events } }

    func count(_ request: String) -> Int { all.count { $0.request == request } }

    var tally: ServerTally { all.reduce(into: ServerTally()) { $0.count($1) } }

    /// Waits for an event that has not been waited for. For one caller at a time.
    func next(where isWanted: (ServerEvent) -> Bool) async -> ServerEvent? {
        for await event in stream where isWanted(event) { return event }
        return nil
    }
}

extension ServerSettings {
    /// Returns settings with which events are recorded.
    ///
    /// - Parameter events: Receives every request.
    static func watched(by events: ServerEvents) -> ServerSettings {
        var settings = ServerSettings()
        settings.onEvent = events.add
        return settings
    }
}

/// A folder for the files of a test, which is removed when the test has ended.
final class TestFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "bookshelf-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String, bytes: Int) throws -> URL {
        let file = url.appending(path: name)
        try Data(repeating: 7, count: bytes).write(to: file)
        return file
    }
}

extension Trait where Self == ParallelizationTrait {
    /// Runs the tests of a suite one after another.
    ///
    /// Each server blocks a thread of Dispatch for as long as it listens, and Dispatch adds threads in place of blocked ones slowly. On a busy machine,
    /// the servers of all tests at once left no thread for the requests until their time limit.
    static var oneServerAtATime: Self { .serialized }
}
