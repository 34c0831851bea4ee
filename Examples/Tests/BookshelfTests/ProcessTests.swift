import Foundation
import TaskControlTesting
import Testing

@testable import bookshelf

/// The program as its user sees it.
@Suite(.oneServerAtATime, .timeLimit(.minutes(15)), .enabled(if: Bookshelf.executable != nil))
struct ProcessTests {
    @Test func itsHelpNamesItsCommands() async throws {
        let ending = try await Bookshelf.run("--help")
        #expect(ending.status == 0)
        for command in ["list", "search", "add", "upload", "watch", "serve"] {
            #expect(ending.output.contains("  \(command) "))
        }
    }

    @Test func aWrongArgumentIsToldOnStandardError() async throws {
        let ending = try await Bookshelf.run("upload", "dune.png")
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
        #expect(ending.messages.contains("such as 3=dune.png"))
    }

    @Test func aServerThatIsNotThereIsOneLineThatSaysWhatToDo() async throws {
        let port = try ClosedPort()
        let address = port.address
        for command in [
            ["list"], ["list", "--all", "--callbacks"], ["search", "emma"], ["watch"], ["add", "A", "--author", "B"],
        ] {
            let ending = try await Bookshelf(command + ["--retries", "0", "--server", "\(address)"]).end()
            #expect(ending.status == 1)
            #expect(ending.output.isEmpty)
            let line = try #require(ending.messages.split(separator: "\n").first)
            #expect(
                line.contains(
                    "no server at \(address): start one with `swift run --package-path Examples bookshelf serve`"
                ),
                "\(command)"
            )
        }
        withExtendedLifetime(port) {}
    }

    @Test func whatItFindsGoesToStandardOutput() async throws {
        try await BookServer.whileRunning { server in
            let list = try await Bookshelf.run("list", "--all", "--verbose", "--server", "\(server.address)")
            #expect(list.status == 0)
            #expect(list.output.split(separator: "\n").count == 23)
            #expect(list.output.contains("20  我是猫"))
            #expect(list.messages.contains("GET /books?page=…: 200"))
            let added = try await Bookshelf.run("add", "B", "A", "C", "--author", "X", "--server", "\(server.address)")
            #expect(added.output == "24  B  X\n25  A  X\n26  C  X\n")
            let found = try await Bookshelf.run("search", "emma", "dune", "--server", "\(server.address)")
            #expect(found.output == "emma: 1 found\n2  Emma  Jane Austen, 1815\ndune: 0 found\n")
        }
    }

    #if os(Linux)
    @Test func resultsThatCannotBeWrittenAreAFailure() async throws {
        try await BookServer.whileRunning { server in
            let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let ending = try await Bookshelf(["list", "--server", "\(server.address)"], output: full).end()
            #expect(ending.status == 1)
            #expect(ending.messages.contains("the results could not be written: No space left on device"))
        }
    }
    #endif

    @Test func uploadsArriveWholeAndAreToldInQuarters() async throws {
        let folder = try TestFolder()
        let (a, b) = (try folder.file("a.png", bytes: 500_000), try folder.file("b.png", bytes: 0))
        try await BookServer.whileRunning { server in
            let ending = try await Bookshelf.run(
                "upload",
                "1=\(a.path)",
                "2=\(b.path)",
                "--server",
                "\(server.address)"
            )
            #expect(ending.status == 0)
            #expect(ending.output == "uploaded 2 of 2\n")
            let lines = ending.messages.split(separator: "\n")
            #expect(lines.contains("a.png: 100 %") && lines.contains("b.png: 100 %"))
            #expect(await server.shelf.all.prefix(2).map(\.cover?.size) == [500_000, 0])
        }
    }

    @Test func anInterruptedUploadSaysWhatWasNotDone() async throws {
        let folder = try TestFolder()
        let files = try [("a.png", 1_000), ("b.png", 40_000_000), ("c.png", 1_000)].map {
            try folder.file($0, bytes: $1)
        }
        let (arriving, held, events) = (Gate(), Gate(), ServerEvents())
        var settings = ServerSettings.watched(by: events)
        settings.pace = { pace in
            guard case .piece = pace else { return }
            arriving.open()
            await held.waitIgnoringCancellation()
        }
        try await BookServer.whileRunning(settings) { server in
            let covers = files.enumerated().map { "\($0 + 1)=\($1.path)" }
            let program = try Bookshelf(["upload", "--at-a-time", "1", "--server", "\(server.address)"] + covers)
            try await arriving.wait()
            program.interrupt()
            let ending = await program.end()
            #expect(ending.status == 130)
            let last = try #require(ending.messages.split(separator: "\n").last)
            #expect(
                last.wholeMatch(of: /uploaded 1 of 3; not uploaded: b\.png \(\d+ %\), c\.png/) != nil,
                "\(ending.messages)"
            )
            #expect(ending.messages.contains("cancelling; Ctrl-C again quits at once"))
            held.open()
            let end = await events.next { $0.request == "PUT /books/2/cover" }
            #expect({ if case .abandoned? = end?.outcome { true } else { false } }())
            #expect(events.count("PUT /books/3/cover") == 0)
        }
    }

    @Test func aWatchAndAServerEndWithCtrlC() async throws {
        let asked = Gate()
        var settings = ServerSettings()
        settings.pace = { if case .request("GET /changes") = $0 { asked.open() } }
        try await BookServer.whileRunning(settings) { server in
            let watch = try Bookshelf(["watch", "--after", "0", "--server", "\(server.address)"])
            try await asked.wait()
            watch.interrupt()
            let ending = await watch.end()
            #expect(ending.status == 130)
            #expect(ending.messages.hasSuffix("watched until change 0\n"))
            let port = try #require(server.address.port)
            let taken = try await Bookshelf.run("serve", "--port", "\(port)")
            #expect(taken.status == 1)
            #expect(taken.messages.contains("port \(port) can't be had"))
        }
    }
}
