import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTrace

/// The recorder, and the files that it writes.
@Suite(.timeLimit(.minutes(15)))
final class TraceRecorderTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trace-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func recorder(_ tasks: Int = 3) -> TraceRecorder {
        var recording = Recording()
        for subject in 0..<UInt64(tasks) { recording.turn(subject, (0, 1, 2), task: "task \(subject)") }
        let recorder = TraceRecorder()
        for event in recording.events { recorder.receive(event) }
        return recorder
    }

    #if SUBPROCESSES
    // In processes of their own: the events of tests that run beside them could fill the recorder.

    @Test(.oneProcessAtATime) func anObserverThatRecordsHasWhatHappened() async {
        await #expect(processExitsWith: .success) {
            let recorder = TraceRecorder()
            let observation = TaskDiagnostics.observe(recorder)
            await Task(name: "recorded", on: FIFOQueue()) {}.value
            observation.end()
            precondition(recorder.text(as: .perfetto).contains("recorded"))
            precondition(recorder.text(as: .html).contains("recorded"))
        }
    }

    @Test(.oneProcessAtATime) func theExampleOfTheDocumentHolds() async {
        await #expect(processExitsWith: .success) {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).html").path
            let recorder = TraceRecorder()
            let observation = TaskDiagnostics.observe(recorder)
            await Task(name: "photo 1", on: FIFOQueue(name: "uploads")) {}.value
            try recorder.write(.html, to: path)
            observation.end()
            let page = try String(contentsOfFile: path, encoding: .utf8)
            try FileManager.default.removeItem(atPath: path)
            precondition(page.contains("\"photo 1\"") && page.contains("\"uploads\""))
        }
    }
    #endif

    @Test(arguments: TraceRecorder.Format.allCases)
    func aFileIsReplacedByWhatTheTextSaysAndNothingElseIsLeft(format: TraceRecorder.Format) throws {
        let path = folder.appendingPathComponent("trace").path
        try "before".write(toFile: path, atomically: true, encoding: .utf8)
        // More than a piece.
        let recorder = recorder(3_000)
        try recorder.write(format, to: path, title: "A title")
        let written = try String(contentsOfFile: path, encoding: .utf8)
        #expect(written == recorder.text(as: format, title: "A title") && written.utf8.count > 200_000)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["trace"])
    }

    @Test func aFileThatCannotBeWrittenIsToldWithTheReasonAndLeavesNothing() throws {
        let nowhere = folder.appendingPathComponent("no/such/folder/trace.html").path
        do {
            try recorder().write(.html, to: nowhere)
            Issue.record("there is no such folder")
        } catch {
            #expect(error.code == ENOENT && error.path == nowhere)
            #expect(
                error.description.contains("No such file or directory") && error.description.contains("Give a path")
            )
        }
        // A folder of that name is not replaced.
        #expect(throws: TraceRecorder.WriteError.self) { try recorder().write(.html, to: folder.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        let siblings = try FileManager.default.contentsOfDirectory(atPath: folder.deletingLastPathComponent().path)
        #expect(!siblings.contains { $0.hasPrefix(".taskcontrol-\(getpid())-") })
    }

    @Test func aPathWithNULWritesNoOtherFile() throws {
        let path = folder.appendingPathComponent("nul").path + "\0x.html"
        do {
            try recorder().write(.html, to: path)
            Issue.record("the path ends at NUL")
        } catch {
            #expect(error.code == EINVAL && error.path == path)
            #expect(error.description.contains("Give a path without NUL"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func aSymbolicLinkIsFollowedAndStays() throws {
        let (file, link) = (folder.appendingPathComponent("trace").path, folder.appendingPathComponent("link").path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "trace")
        try recorder().write(.perfetto, to: link)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == recorder().text(as: .perfetto))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "trace")
    }

    @Test func whatIsNoRegularFileIsWrittenToAndStays() throws {
        let pipe = folder.appendingPathComponent("pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
        // For both, so that neither waits for the other.
        let reader = try #require(FileHandle(forUpdatingAtPath: pipe))
        try recorder().write(.perfetto, to: pipe)
        let text = Data(recorder().text(as: .perfetto).utf8)
        #expect(try reader.read(upToCount: text.count) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["pipe"])
    }

    @Test func recordingGoesOnWhileATraceIsWritten() {
        let recorder = recorder(2_000)
        let (before, model) = (recorder.events.count, TraceModel(recorder.events))
        var pieces = 0
        // Under the recorder's lock this would trap.
        model.write(as: .perfetto, title: "t") { _ in
            pieces += 1
            recorder.receive(TaskEvent(.retry, .failed))
        }
        #expect(pieces > 3 && recorder.events.count == before + pieces)
    }
}
