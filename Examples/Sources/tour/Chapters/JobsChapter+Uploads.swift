import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlTesting

/// A server that takes uploads, and answers when its gate is open.
final class UploadServer: Sendable {
    struct State: Sendable {
        var open = 0
        var mostOpen = 0
        var begun = 0
    }

    let state = Observed(State())
    private let gate = Gate()

    func upload(_ file: Int) async throws {
        state.update { state in
            state.begun += 1
            state.open += 1
            state.mostOpen = max(state.mostOpen, state.open)
        }
        defer { state.update { $0.open -= 1 } }
        try await gate.wait()
    }

    func answer() { gate.open() }
}

/// A screen with a row per upload.
@MainActor protocol UploadRows: AnyObject {
    var rows: [Int: String] { get }
    init(_ server: UploadServer)
    func upload(_ file: Int)
    func cancel(_ file: Int)
    func waitForEnd() async throws
}

/// Uploads as people write them: a task per file, in a dictionary.
@MainActor final class NaiveUploadRows: UploadRows {
    private(set) var rows: [Int: String] = [:]
    private let server: UploadServer
    private var tasks: [Int: Task<Void, Never>] = [:]

    init(_ server: UploadServer) { self.server = server }

    func upload(_ file: Int) {
        rows[file] = "sending"
        tasks[file] = Task {
            do {
                try await server.upload(file)
                rows[file] = "sent"
            } catch  where !Task.isCancelled {
                rows[file] = "failed"
            } catch {}  // cancelled: no alert
        }
    }

    func cancel(_ file: Int) { tasks[file]?.cancel() }

    func waitForEnd() async throws { for task in tasks.values { await task.value } }
}

@MainActor final class LimitedUploadRows: UploadRows {
    private(set) var rows: [Int: String] = [:]
    private let server: UploadServer
    private let uploads = TaskStore<Int>(name: "uploads", maxConcurrentTasks: 4)

    init(_ server: UploadServer) { self.server = server }

    func upload(_ file: Int) {
        rows[file] = "sending"
        uploads.run(forKey: file, for: self) { [server] in
            try await server.upload(file)
        } deliver: { _, _ in
        } onEnd: { screen, outcome in
            screen.rows[file] =
                switch outcome {
                case .delivered, .undelivered: "sent"
                case .cancelled: "cancelled"
                default: "failed"
                }
        }
    }

    func cancel(_ file: Int) { uploads.cancelTask(forKey: file) }

    func waitForEnd() async throws { try await uploads.drain() }
}

/// A disk that takes a while for a draft, and keeps the drafts that were written as a whole.
final class SlowDisk: Sendable {
    let begun = Observed(0)
    let written = Observed([Int]())
    let interrupted = Observed(0)
    private let gate = Gate()

    func write(_ draft: Int) async {
        begun.update { $0 += 1 }
        do {
            try await gate.wait()
            written.update { $0.append(draft) }
        } catch {
            interrupted.update { $0 += 1 }
        }
    }

    func finish() { gate.open() }
}

/// A document that saves itself after a pause in typing.
protocol AutosavedDocument: Sendable {
    init(_ disk: SlowDisk, _ clock: TestClock)
    func type(_ draft: Int)
    func waitForEnd() async throws
}

/// An autosave as people write it: the task of the last draft is cancelled, and the new one waits for a pause.
struct NaiveAutosave: AutosavedDocument {
    private let disk: SlowDisk
    private let clock: TestClock
    private let tasks = Observed([Task<Void, Never>]())

    init(_ disk: SlowDisk, _ clock: TestClock) { (self.disk, self.clock) = (disk, clock) }

    func type(_ draft: Int) {
        tasks.value.last?.cancel()
        let task = Task {
            guard (try? await clock.sleep(for: .seconds(1))) != nil else { return }
            await disk.write(draft)
        }
        tasks.update { $0.append(task) }
    }

    func waitForEnd() async throws { for task in tasks.value { await task.value } }
}

struct PatientAutosave: AutosavedDocument {
    private let disk: SlowDisk
    private let saves: TaskSlot

    init(_ disk: SlowDisk, _ clock: TestClock) {
        self.disk = disk
        saves = TaskSlot(name: "autosave", behavior: .debounce(for: .seconds(1), then: .keepLatest), clock: clock)
    }

    func type(_ draft: Int) { saves.addTask { [disk] in await disk.write(draft) } }

    func waitForEnd() async throws { try await saves.drain() }
}

/// A form that a server refuses, with the fields that are wrong.
struct RefusedForm: Sendable {
    struct Refusal: Error, Decodable { let fields: [String] }

    private let client = EndpointClient(
        name: "forms",
        baseURL: "https://books.example",
        transport: MockTransport { _ in (422, Data(#"{"fields": ["title", "year"], "token": "hush"}"#.utf8)) }
    )

    /// The wrong fields as people learn them: a status that is not 2xx is an error, and the body is lost with the response.
    func fieldsNaively() async -> [String] {
        do {
            var request = URLRequest(url: URL(fileURLWithPath: "/books"))
            request.httpMethod = "POST"
            let (_, head) = try await client.data(for: request, accepting: .all)
            if head.statusCode != 200 { throw URLError(.badServerResponse) }
            return []
        } catch let error as Refusal {
            return error.fields
        } catch {
            return []
        }
    }

    /// The text of the error, for a log.
    func text() async -> String { await refusal()?.localizedDescription ?? "" }

    func fields() async -> [String] {
        (try? await refusal()?.decode(Refusal.self).fields) ?? []
    }

    private func refusal() async -> EndpointError? {
        do {
            try await client.post("books", body: ["title": ""])
            return nil
        } catch {
            return error as? EndpointError
        }
    }
}

extension JobsChapter {
    struct Uploads: Sendable, Equatable {
        let mostOpen: Int
        /// The rows that say "sending" when nothing is sent any more.
        let stale: Int
    }

    /// Twelve uploads are added, of which three are cancelled: two that have begun, and the last one.
    @MainActor
    static func uploads(_ type: any UploadRows.Type, atOnce count: Int) async throws -> Uploads {
        let server = UploadServer()
        let screen = type.init(server)
        for file in 0..<12 { screen.upload(file) }
        try await server.state.expect("the first uploads") { $0.begun == count }
        for file in [0, 1, 11] { screen.cancel(file) }
        server.answer()
        try await screen.waitForEnd()
        return Uploads(mostOpen: server.state.value.mostOpen, stale: screen.rows.values.count { $0 == "sending" })
    }

    struct Autosave: Sendable, Equatable {
        let interrupted: Int
        let written: [Int]
    }

    /// A pause, then another draft while the first one is being written, and another pause.
    static func autosave(_ type: any AutosavedDocument.Type) async throws -> Autosave {
        let (clock, disk) = (TestClock(), SlowDisk())
        let document = type.init(disk, clock)
        document.type(1)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        try await disk.begun.expect("the first save") { $0 == 1 }
        document.type(2)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1), waking: 1)
        disk.finish()
        try await document.waitForEnd()
        return Autosave(interrupted: disk.interrupted.value, written: disk.written.value)
    }
}
