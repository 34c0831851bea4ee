import ArgumentParser
import Foundation
import Support
import TaskControlTesting
import Testing

@testable import bookshelf

/// The program as its user sees it.
@Suite(.oneServerAtATime, .timeLimit(.minutes(15)))
struct ProcessTests {
    private static func start(_ arguments: String..., server: URL? = nil) throws -> ChildProcess {
        let program = try #require(ChildProcess.product("bookshelf"), "the program is beside the tests")
        return try ChildProcess(program, arguments + (server.map { ["--server", "\($0)"] } ?? []))
    }

    @Test(arguments: [
        ["lst"], ["list", "--timeout", "soon"], ["list", "--server", "localhost:80"], ["add", "Dune"],
        ["upload", "dune.png"],
        ["upload", "1=/"], ["upload", "--at-a-time", "0", "1=/etc/hosts"], ["serve", "--unreliable", "1.5"],
    ])
    func aBadArgumentIsRefusedWith64(arguments: [String]) {
        #expect {
            try BookshelfCommand.parseAsRoot(arguments)
        } throws: { error in
            BookshelfCommand.exitCode(for: error) == ExitCode(64)
        }
    }

    @Test func aServerThatIsNotThereIsOneLineThatSaysWhatToDo() async throws {
        // Nothing listens there: a test has no right to.
        let ending = try await Self.start("list", "--retries", "0", "--server", "http://127.0.0.1:1").end()
        #expect(ending.status == 1)
        #expect(ending.messages.contains("no server at http://127.0.0.1:1: start one with `swift run"))
        #expect(ending.messages.split(separator: "\n").count == 1)
    }

    @Test func eachCommandDoesItsWork() async throws {
        try await TemporaryFolder.whileThere { folder in
            let (a, b) = (try folder.file("a.png", bytes: 500_000), try folder.file("b.png", bytes: 0))
            try await BookServer.whileRunning { address, server in
                let added = try await Self.start("add", "B", "A", "C", "--author", "X", server: address).end()
                #expect(String(decoding: added.output, as: UTF8.self) == "B: added\nA: added\nC: added\n")
                let list = try await Self.start("list", "--all", "--callbacks", server: address).end()
                let lines = String(decoding: list.output, as: UTF8.self).split(separator: "\n")
                #expect(lines.count == 15 && lines.last == "15  C  X")
                let found = try await Self.start("search", "emma", "dune", server: address).end()
                let text = "emma: 1 found\n2  Emma  Jane Austen\ndune: 0 found\n"
                #expect(String(decoding: found.output, as: UTF8.self) == text)
                // An upload that fails does not end the others.
                let covers = ["1=\(a.path)", "99=\(a.path)", "2=\(b.path)"]
                let upload = try await Self.start("upload", covers[0], covers[1], covers[2], server: address).end()
                #expect(upload.status == 1)
                #expect(upload.messages.contains("uploaded 2 of 3; not uploaded: a.png"))
                #expect(await server.shelf.books.prefix(2).map(\.cover) == [500_000, 0])
            }
        }
    }

    @Test func anInterruptedUploadSaysWhatWasNotDone() async throws {
        try await TemporaryFolder.whileThere { folder in
            let files = try [("a.png", 1_000), ("b.png", 40_000_000), ("c.png", 1_000)].map(folder.file)
            let (arriving, held, events) = (Gate(), Gate(), Observed([String]()))
            var settings = BookServer.Settings.watched(by: events)
            settings.pace = { pace in
                guard pace == "piece" else { return }
                arriving.open()
                await held.waitIgnoringCancellation()
            }
            try await BookServer.whileRunning(settings) { address, _ in
                let covers = files.enumerated().map { "\($0 + 1)=\($1.path)" }
                let program = try Self.start(
                    "upload",
                    "--at-a-time",
                    "1",
                    covers[0],
                    covers[1],
                    covers[2],
                    server: address
                )
                try await arriving.wait()
                program.interrupt()
                let ending = try await program.end()
                #expect(ending.status == 130)
                let sentence = /uploaded 1 of 3; not uploaded: b\.png \(\d+ %\), c\.png/
                #expect(ending.messages.contains(sentence), "\(ending.messages)")
                held.open()
                try await events.expect("the client to leave") {
                    $0.contains { $0.hasPrefix("PUT /books/2/cover: the client left") }
                }
                #expect(!events.value.contains { $0.hasPrefix("PUT /books/3/cover") })
            }
        }
    }

    @Test func aWatchEndsWithCtrlCAndAServerNeedsAFreePort() async throws {
        let asked = Gate()
        let settings = BookServer.Settings(pace: { if $0 == "GET /changes" { asked.open() } })
        try await BookServer.whileRunning(settings) { address, _ in
            let watch = try Self.start("watch", "--after", "0", server: address)
            try await asked.wait()
            watch.interrupt()
            let ending = try await watch.end()
            #expect(ending.status == 130)
            #expect(ending.messages.hasSuffix("watched until change 0\n"))
            let port = try #require(address.port)
            let taken = try await Self.start("serve", "--port", "\(port)").end()
            #expect(taken.status == 1)
            #expect(taken.messages.contains("port \(port) can't be had"))
        }
    }

    /// Signals are the process's: no other test sends one to it.
    @Test func theFirstSignalAsksAndTheSecondTakes() async throws {
        let told = Observed([String]())
        let interruption = Interruption { signal in
            told.update { $0.append("first \(signal)") }
        } quit: { code in
            told.update { $0.append("quit \(code)") }
        }
        await interruption.waitUntilReady()
        kill(getpid(), SIGINT)
        try await told.expect("the first signal") { $0 == ["first \(SIGINT)"] }
        kill(getpid(), SIGTERM)
        try await told.expect("the second signal") { $0.last == "quit \(128 + SIGTERM)" }
        withExtendedLifetime(interruption) {}
    }
}
