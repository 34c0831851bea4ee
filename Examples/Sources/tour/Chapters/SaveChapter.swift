import Foundation
import TaskControl

/// A document saves itself after every burst of keystrokes, and a save takes longer than the next burst: what is in the file at the end?
struct SaveChapter: Chapter {
    let name = "save"
    let title = "Save, save, save"

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let script = SaveScript(seed: tour.seed)
        let naive = try await play(script, NaiveDocument.self, savesOverlap: true, as: "naive")
        let queued = try await play(script, QueuedDocument.self, savesOverlap: false, as: "FIFOQueue")
        let saved = try await Self.saveAmongAutosaves()
        Progress(chapter: name, act: "CancellableQueue").finish(saved)
        return Report(
            naive: naive.lines,
            taskControl: Report.group("FIFOQueue", queued.lines) + Report.group("CancellableQueue", saved.lines),
            claims: [
                Claim("naive: saves overlap", holds: naive.atOnce > 1, measured: "\(naive.atOnce) at once"),
                Claim(
                    "naive: the file is not the last draft",
                    holds: naive.differences > 0,
                    measured: "\(naive.differences) bytes differ"
                ),
                Claim(
                    "naive: the save that the disk held up has come back into the file",
                    holds: naive.found.contains(script.stalled.number),
                    measured: "drafts \(naive.found.sorted())"
                ),
                Claim("FIFOQueue: one save at a time", queued.atOnce, is: 1),
                Claim("FIFOQueue: the drafts are saved in order", queued.begun, is: script.drafts.map(\.number)),
                Claim("FIFOQueue: the file is the last draft, byte by byte", queued.differences, is: 0),
                Claim(
                    "FIFOQueue: an export is the draft before it, byte by byte",
                    queued.differencesInExport,
                    is: 0
                ),
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

    @MainActor
    private func play(
        _ script: SaveScript,
        _ document: (some Document).Type,
        savesOverlap: Bool,
        as act: String
    ) async throws -> Measured {
        let measured = try await Self.save(script, with: document, savesOverlap: savesOverlap)
        Progress(chapter: name, act: act).finish("\(measured.begun.count) saves, \(measured.atOnce) at once")
        return measured
    }

    /// Types the script into a document, while the disk stalls once.
    ///
    /// - Parameter savesOverlap: Whether the other saves end while the disk delays one save. If so, the act waits for them, so that an error that
    ///   users meet by chance happens here each time.
    @MainActor
    static func save<Model: Document>(
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
            return Measured(
                script,
                begun: await file.begun,
                atOnce: await file.mostAtOnce,
                try await file.read(),
                export
            )
        }
    }

    /// Saves at the request of the user while one autosave is in progress and others wait. One of the waiting autosaves was cancelled before, by its
    /// own handle.
    @MainActor
    static func saveAmongAutosaves() async throws -> Saved {
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
            let differences = last.differences(in: try await file.read())
            return Saved(begun: await file.begun, cancelled: cancelled, differences: differences)
        }
    }

    /// The content of the file, at the end and when it was exported.
    struct Measured: Sendable {
        let begun: [Int]
        let atOnce: Int
        let found: Set<Int>
        let differences: Int
        let differencesInExport: Int
        private let last: Int
        private let exported: Int

        init(_ script: SaveScript, begun: [Int], atOnce: Int, _ data: Data, _ export: Data) {
            self.begun = begun
            self.atOnce = atOnce
            found = Draft.numbers(in: data)
            differences = script.last.differences(in: data)
            differencesInExport = script.drafts[script.exported - 1].differences(in: export)
            last = script.last.number
            exported = script.exported
        }

        var lines: [String] {
            let drafts = found.sorted().map { "\($0)" }.joined(separator: ", ")
            return [
                "\(begun.count) saves, at most \(atOnce) at once",
                "the file: \(comparison(differences, to: last))",
            ] + (found.count > 1 ? ["lines of drafts \(drafts)"] : []) + [
                "an export: \(comparison(differencesInExport, to: exported))"
            ]
        }

        private func comparison(_ differences: Int, to draft: Int) -> String {
            differences == 0 ? "draft \(draft), byte by byte" : "not draft \(draft), \(differences) bytes differ"
        }
    }

    struct Saved: Sendable, CustomStringConvertible {
        let begun: [Int]
        let cancelled: Int
        let differences: Int

        var lines: [String] {
            [
                "\(description) before their turn",
                "the file: \(differences == 0 ? "the user's save, byte by byte" : "\(differences) bytes differ")",
            ]
        }
        var description: String { "\(cancelled) autosaves cancelled" }
    }
}
