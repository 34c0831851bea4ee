import Foundation
import Testing

@testable import tour

/// The facts on which the chapter's claims rest, whatever the seed.
@Suite(.timeLimit(.minutes(15)))
@MainActor
struct SaveTests {
    @Test func theDiskStallsInOneDraftAfterTheExportAndBeforeTheLast() {
        for seed in UInt64(0)..<500 {
            let script = SaveScript(seed: seed)
            #expect(script.drafts.map(\.number) == Array(1...40))
            #expect(script.drafts.count(where: \.stallsDisk) == 1)
            #expect(script.stalled.number > script.exported, "seed \(seed)")
            #expect(script.stalled.number < script.last.number, "seed \(seed)")
        }
    }

    @Test func theSameSeedIsTheSameScript() {
        #expect(SaveScript(seed: 7).drafts.map(\.bytes) == SaveScript(seed: 7).drafts.map(\.bytes))
        #expect(SaveScript(seed: 7).stalled.number == SaveScript(seed: 7).stalled.number)
    }

    @Test func aFileSaysFromWhichDraftsItIs() {
        let (old, new) = (Draft(number: 7, pieceCount: 3), Draft(number: 12, pieceCount: 2))
        #expect(Draft.numbers(in: Data()) == [])
        #expect(Draft.numbers(in: new.bytes) == [12])
        #expect(Draft.numbers(in: new.bytes + old.pieces[2]) == [7, 12])
        #expect(Draft.numbers(in: Data(count: 1_000) + old.pieces[2]) == [7])
    }

    @Test func whatDiffersIsCountedByTheByte() {
        let (draft, shorter) = (Draft(number: 7, pieceCount: 3), Draft(number: 7, pieceCount: 2))
        #expect(draft.differences(in: draft.bytes) == 0)
        #expect(draft.differences(in: shorter.bytes) == draft.pieces[2].count)
        #expect(shorter.differences(in: draft.bytes) == draft.pieces[2].count)
        #expect(draft.differences(in: Draft(number: 8, pieceCount: 3).bytes) == 3 * Draft.linesInPiece)
    }

    @Test func theNaiveFileIsNeverTheLastDraft() async throws {
        for seed in UInt64(0)..<50 {
            let script = SaveScript(seed: seed)
            let file = try await SaveChapter.save(script, with: NaiveDocument.self, savesOverlap: true)
            #expect(file.atOnce > 1, "seed \(seed)")
            #expect(file.differences > 0, "seed \(seed)")
            #expect(file.found.contains(script.stalled.number), "seed \(seed)")
        }
    }

    @Test func theQueuedFileAlwaysIs() async throws {
        for seed in UInt64(0)..<50 {
            let script = SaveScript(seed: seed)
            let file = try await SaveChapter.save(script, with: QueuedDocument.self, savesOverlap: false)
            #expect(file.atOnce == 1, "seed \(seed)")
            #expect(file.begun == script.drafts.map(\.number), "seed \(seed)")
            #expect(file.differences == 0, "seed \(seed)")
            #expect(file.differencesInExport == 0, "seed \(seed)")
        }
    }

    @Test func autosavesThatWaitNeverBeginWhenTheUserSaves() async throws {
        for _ in 0..<200 {
            let saved = try await SaveChapter.saveAmongAutosaves()
            #expect(saved.begun == [1, 6])
            #expect(saved.cancelled == 4)
            #expect(saved.differences == 0)
        }
    }

    @Test func theFolderIsGoneWhenTheActIsOver() async throws {
        struct Failure: Error {}
        var folders: [URL] = []
        try await TemporaryFolder.whileThere { folders.append($0) }
        await #expect(throws: Failure.self) {
            try await TemporaryFolder.whileThere { folder in
                try Data().write(to: folder.appendingPathComponent("document.txt"))
                folders.append(folder)
                throw Failure()
            }
        }
        #expect(folders.count == 2)
        #expect(folders.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
    }
}
