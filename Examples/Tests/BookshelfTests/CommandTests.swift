import ArgumentParser
import Foundation
import Testing

@testable import bookshelf

@Suite(.timeLimit(.minutes(15)))
struct BookshelfCommandTests {
    @Test(arguments: [
        ["lst"], ["list", "--page", "0"], ["list", "--page", "1", "--all"], ["list", "--timeout", "soon"],
        ["list", "--timeout", "0s"],
        ["list", "--retries", "-1"], ["list", "--server", "localhost:80"], ["list", "--server", "ftp://x"],
        ["search", ""], ["add", "Dune"],
        ["add", "--author", "X"], ["add", "", "--author", "X"], ["upload"], ["upload", "dune.png"],
        ["upload", "0=dune.png"],
        ["upload", "1=/nowhere/dune.png"], ["upload", "1=/"], ["upload", "--at-a-time", "0", "1=/etc/hosts"],
        ["watch", "--after", "-1"],
        ["watch", "--count", "0"], ["serve", "--unreliable", "1.5"], ["serve", "--unreliable", "some"],
        ["serve", "--port", "70000"],
        ["serve", "--slow", "-1s"], ["serve", "--token-lifetime", ""],
    ])
    func aBadArgumentIsRefusedWith64(arguments: [String]) {
        #expect {
            try BookshelfCommand.parseAsRoot(arguments)
        } throws: { error in
            BookshelfCommand.exitCode(for: error) == ExitCode(64)
        }
    }

    @Test(arguments: [
        (["upload", "dune.png"], "such as 3=dune.png"),
        (["upload", "1=/nowhere.png"], "There is no file '/nowhere.png'"),
        (["list", "--timeout", "soon"], "Write it as 250ms, 30s, 2m or 1h."),
        (["list", "--server", "here"], "http://127.0.0.1:8080"),
        (["serve", "--unreliable", "2"], "Give it a number from 0 to 1, such as 0.3."),
    ])
    func theMessageSaysWhatToDo(arguments: [String], words: String) {
        #expect {
            try BookshelfCommand.parseAsRoot(arguments)
        } throws: { error in
            BookshelfCommand.fullMessage(for: error).contains(words)
        }
    }

    @Test func whatIsNotGivenHasADefault() throws {
        let list = try #require(try BookshelfCommand.parseAsRoot(["list"]) as? ListCommand)
        #expect(list.options.server.absoluteString == "http://127.0.0.1:8080")
        #expect(list.options.timeout == .seconds(30))
        #expect(list.options.connection().attempts == 4)
        #expect(list.options.connection().observer == nil)
        #expect(list.options.connection(isOpenEnded: true).timeLimit == nil)
        #expect(!list.all)
        let serve = try #require(try BookshelfCommand.parseAsRoot(["serve"]) as? ServeCommand)
        #expect(serve.settings.port == 8080)
        #expect(serve.settings.faults.share == 0)
    }

    @Test func whatIsGivenCounts() throws {
        let arguments = [
            "upload", "3=/etc/hosts", "--at-a-time", "2", "--retries", "7", "--timeout", "250ms", "--server",
            "http://h:1",
        ]
        let upload = try #require(try BookshelfCommand.parseAsRoot(arguments) as? UploadCommand)
        #expect(upload.covers == [CoverUpload(book: 3, path: "/etc/hosts")])
        #expect(upload.simultaneous == 2)
        let connection = upload.options.connection(isOpenEnded: true)
        #expect((connection.attempts, connection.idleLimit) == (8, .milliseconds(250)))
        let serve = try #require(
            try BookshelfCommand.parseAsRoot(["serve", "--unreliable", "0.3", "--seed", "9", "--token-lifetime", "2m"])
                as? ServeCommand
        )
        #expect((serve.settings.faults.share, serve.settings.faults.seed) == (0.3, 9))
        #expect(serve.settings.tokenLifetime == .seconds(120))
    }

    @Test(arguments: [("250ms", 0.25), ("30s", 30), ("2m", 120), ("1.5h", 5400), ("7", 7), ("0", 0)])
    func aDurationIsReadAsPeopleTypeIt(text: String, seconds: Double) throws {
        #expect(try Duration(argument: text) == .seconds(seconds))
    }

    @Test(arguments: [
        (Duration.milliseconds(250), "250ms"), (.seconds(90), "90s"), (.seconds(120), "2m"), (.seconds(7200), "2h"),
        (.zero, "0ms"),
    ])
    func aDurationIsWrittenTheSameWay(duration: Duration, text: String) {
        #expect(duration.text == text)
    }

    @Test(arguments: [
        ("a", [Key.character("a")]), ("é我", [.character("é"), .character("我")]), ("\n", [.end]), ("", [.end]),
        ("\u{4}", [.end]),
        ("\u{7F}", [.backspace]), ("\u{1B}", [.end]), ("\u{1B}[A", []),
        ("a\u{1}b", [.character("a"), .character("b")]),
    ])
    func keysAreReadFromWhatATerminalSends(bytes: String, keys: [Key]) {
        #expect(Key.keys(in: Data(bytes.utf8)) == keys)
    }
}
