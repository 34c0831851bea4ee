import ArgumentParser
import Foundation
import Testing

@testable import outage

@Suite(.timeLimit(.minutes(15)))
struct CommandTests {
    @Test(arguments: [
        ["--clients", "5"], ["--clients", "1000000"], ["--clients", "many"], ["--seed", "-1"], ["--svg", ""],
        ["--color"],
    ])
    func aBadArgumentIsRefusedWith64(arguments: [String]) {
        #expect {
            try OutageCommand.parse(arguments)
        } throws: { error in
            OutageCommand.exitCode(for: error) == ExitCode(64)
        }
    }

    @Test func theMessageSaysWhatToDo() throws {
        #expect {
            try OutageCommand.parse(["--clients", "5"])
        } throws: { error in
            OutageCommand.message(for: error).contains("Give --clients a number from 1000 to 100000")
        }
    }

    @Test func whatIsNotGivenHasADefault() throws {
        let command = try OutageCommand.parse([])
        #expect((command.clients, command.seed) == (10_000, 1))
        #expect(command.svg == nil)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct PictureFileTests {
    @Test func aFileThatCannotBeWrittenIsSaidBeforeTheWork() {
        for path in ["/nowhere/at/all.svg", "/"] {
            #expect(throws: ExitCode(EX_IOERR)) { try Picture(path: path) }
        }
    }

    @Test func whatIsThereStaysUntilThereIsAPicture() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("outage-\(UUID().uuidString).svg")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("old and long".utf8).write(to: file)
        let picture = try Picture(path: file.path)
        #expect(try String(contentsOf: file, encoding: .utf8) == "old and long")
        try picture.write("new")
        #expect(try String(contentsOf: file, encoding: .utf8) == "new")
    }
}
