import Foundation
import TaskControl

/// A document saves itself after every burst of keystrokes, and a save takes longer than the next burst: what is in the file at the end?
struct SaveChapter: Chapter {
    let name = "save"
    let title = "Save, save, save"

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let script = SaveScript(seed: tour.seed)
        let naive = try await save(script, with: NaiveDocument.self, savesOverlap: true)
        let queued = try await save(script, with: QueuedDocument.self, savesOverlap: false)
        let saved = try await saveAmongAutosaves()
        let last = script.last.number
        return Report(
            naive: [
                "\(naive.atOnce) saves at once; \(naive.differences) bytes of the file are not those of draft \(last)"
            ],
            taskControl: [
                "FIFOQueue: \(queued.atOnce) save at once; \(queued.differences) bytes of the file differ",
                "CancellableQueue: \(saved.cancelled) autosaves cancelled before their turn",
            ],
            claims: [
                Claim("naive: saves overlap", naive.atOnce) { $0 > 1 },
                Claim("naive: the file is not the last draft", naive.differences) { $0 > 0 },
                Claim("naive: the save that the disk held up has come back into the file", naive.found) {
                    $0.contains(script.stalled.number)
                },
                Claim("FIFOQueue: one save at a time", queued.atOnce, is: 1),
                Claim("FIFOQueue: the drafts are saved in order", queued.begun, is: script.drafts.map(\.number)),
                Claim("FIFOQueue: the file is the last draft, byte by byte", queued.differences, is: 0),
                Claim("FIFOQueue: an export is the draft before it, byte by byte", queued.differencesInExport, is: 0),
                Claim(
                    "CancellableQueue: autosaves that wait when the user saves never begin",
                    saved.begun,
                    is: [1, 6]
                ),
                Claim("CancellableQueue: each of them says that it was cancelled", saved.cancelled, is: 4),
                Claim("CancellableQueue: the file is what the user saved, byte by byte", saved.differences, is: 0),
            ]
        )
    }

    private typealias Measured = (
        begun: [Int], atOnce: Int, found: Set<Int>, differences: Int, differencesInExport: Int
    )

    /// Types the script into a document, while the disk stalls once.
    ///
    /// If saves overlap, the others end while the disk delays one. The act waits for them, so that an error that users meet by chance happens here each
    /// time.
    @MainActor
    private func save<Model: Document>(
        _ script: SaveScript,
        with _: Model.Type,
        savesOverlap: Bool
    ) async throws -> Measured {
        try await TemporaryFolder.whileThere { folder in
            let file = try DraftFile(url: folder.appendingPathComponent("document.txt"))
            let document = Model(file: file)
            var saves: [Task<Void, any Error>] = []
            for draft in script.drafts[..<script.exported] { saves.append(document.autosave(draft)) }
            let export = try await document.export()
            for draft in script.drafts[script.exported...] { saves.append(document.autosave(draft)) }

            try await file.isStalled.expect("the disk to stall") { $0 }
            if savesOverlap {
                for (draft, save) in zip(script.drafts, saves) where !draft.stallsDisk { try await save.value }
            }
            file.goOn()
            for save in saves { try await save.value }
            let data = try await file.read()
            let inExport = script.drafts[script.exported - 1].differences(in: export)
            let differences = script.last.differences(in: data)
            return (await file.begun, await file.mostAtOnce, Draft.numbers(in: data), differences, inExport)
        }
    }

    /// Saves at the request of the user while one autosave is in progress and others wait. One of the waiting autosaves was cancelled before, by its
    /// own handle.
    @MainActor
    private func saveAmongAutosaves() async throws -> (begun: [Int], cancelled: Int, differences: Int) {
        try await TemporaryFolder.whileThere { folder in
            let file = try DraftFile(url: folder.appendingPathComponent("document.txt"))
            let document = QueuedDocument(file: file)
            let first = document.autosave(Draft(number: 1, pieceCount: 12, stallsDisk: true))
            try await file.isStalled.expect("the disk to stall") { $0 }
            let waiting = (2...5).map { document.autosave(Draft(number: $0, pieceCount: 8)) }
            waiting[0].cancel()
            let last = Draft(number: 6, pieceCount: 4)
            let save = document.save(last)
            file.goOn()

            // It was under way when it was cancelled, and may have stopped or not: what comes next waits for its end.
            _ = await first.result
            var cancelled = 0
            for autosave in waiting {
                if case .failure(is CancellationError) = await autosave.result { cancelled += 1 }
            }
            try await save.value
            return (await file.begun, cancelled, last.differences(in: try await file.read()))
        }
    }
}
