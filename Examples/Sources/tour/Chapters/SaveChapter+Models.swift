import Foundation
import TaskControl

/// The document's file, in the hands of an actor. That is not enough: at each `await` in it another save continues.
///
/// To write to a second file, and to rename that when it is whole, would spare the mixture; but an older draft could still be the last.
actor DraftFile {
    /// Whether a save is stuck in the middle.
    nonisolated let isStalled = Observed(false)
    /// The drafts whose saves have begun.
    private(set) var begun: [Int] = []
    private(set) var mostAtOnce = 0
    private var underWay = 0
    private let url: URL

    init(url: URL) throws {
        self.url = url
        try Data().write(to: url)
    }

    func write(_ draft: Draft) async throws {
        begun.append(draft.number)
        underWay += 1
        mostAtOnce = max(mostAtOnce, underWay)
        defer { underWay -= 1 }
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        try file.truncate(atOffset: 0)
        for (index, piece) in draft.pieces.enumerated() {
            if draft.stallsDisk, index == draft.pieceCount / 2 {
                isStalled.update { $0 = true }
                try await isStalled.wait { !$0 }
            }
            try file.write(contentsOf: piece)
            await Task.yield()
        }
    }

    nonisolated func goOn() { isStalled.update { $0 = false } }

    func read() throws -> Data { try Data(contentsOf: url) }
}

@MainActor
protocol Document: AnyObject {
    init(file: DraftFile)
    func autosave(_ draft: Draft) -> Task<Void, any Error>
    /// Returns the content of the file.
    func export() async throws -> Data
}

/// A document as people write it today.
@MainActor
final class NaiveDocument: Document {
    private let file: DraftFile

    init(file: DraftFile) { self.file = file }

    func autosave(_ draft: Draft) -> Task<Void, any Error> { Task { [file] in try await file.write(draft) } }

    func export() async throws -> Data { try await file.read() }
}

/// A document with a `FIFOQueue`: a task that needs the file waits until all earlier tasks have ended.
@MainActor
final class QueuedDocument: Document {
    private let file: DraftFile
    private let queue = FIFOQueue(name: "document")
    /// The same line, for tasks that may be cancelled while they wait.
    private let autosaves: CancellableQueue<FIFOQueue>

    init(file: DraftFile) {
        self.file = file
        autosaves = CancellableQueue(underlyingQueue: queue)
    }

    func autosave(_ draft: Draft) -> Task<Void, any Error> {
        autosaves.addTask { [file] in try await file.write(draft) }
    }

    /// Saves a draft at the request of the user, and cancels the autosaves, which are no longer needed. If an autosave is in progress, this save
    /// begins when the autosave has ended.
    func save(_ draft: Draft) -> Task<Void, any Error> {
        autosaves.cancelAll()
        return queue.addTask { [file] in try await file.write(draft) }
    }

    func export() async throws -> Data { try await queue.run { try await file.read() } }
}
