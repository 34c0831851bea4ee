import Foundation
import TaskControlHTTP
import Testing

@testable import bookshelf

@Suite(.timeLimit(.minutes(15)))
struct UploadBoardTests {
    private let server = URL(string: "http://127.0.0.1:8080")!

    @Test func withoutATerminalEachQuarterIsALine() async {
        let paper = Paper()
        let board = UploadBoard(
            [.init(name: "a.png", size: 100), .init(name: "b.png", size: 0)],
            server: server,
            screen: paper.screen()
        )
        for sent in [Int64(0), 10, 26, 30, 49, 80, 100] { board.report(0, .sending(sent)) }
        board.report(1, .sending(0))
        board.say("cancelling")
        board.report(0, .done)
        let report = await board.end()
        #expect(
            paper.text == """
                a.png: 0 %
                a.png: 25 %
                a.png: 75 %
                b.png: 0 %
                cancelling
                a.png: 100 %

                """
        )
        #expect(report.sentence == "uploaded 1 of 2; not uploaded: b.png (0 %)")
    }

    @Test func whatIsSaidFromManyThreadsStaysInItsOrder() async {
        let paper = Paper()
        let board = UploadBoard(
            (0..<8).map { .init(name: "\($0)", size: 1_000) },
            server: server,
            screen: paper.screen()
        )
        await withTaskGroup { group in
            for index in 0..<8 {
                group.addTask {
                    for sent in 0...1_000 { board.report(index, .sending(Int64(sent))) }
                    board.report(index, .done)
                }
            }
        }
        #expect(await board.end().isDone)
        for index in 0..<8 {
            let lines = paper.text.split(separator: "\n").filter { $0.hasPrefix("\(index):") }
            #expect(lines == [0, 25, 50, 75, 100].map { "\(index): \($0) %" }.map { $0[...] })
        }
    }

    @Test func aTerminalShowsWhatIsUnderWayBelowWhatIsDone() async {
        let paper = Paper()
        let uploads = ["a.png", "b.png", "c.png"].map { UploadBoard.Upload(name: $0, size: 100) }
        let board = UploadBoard(uploads, server: server, screen: paper.screen(width: 20))
        board.report(0, .sending(50))
        board.report(1, .sending(10))
        board.report(0, .done)
        board.report(1, .failed(EndpointError(.transport, underlyingError: URLError(.cannotConnectToHost))))
        let report = await board.end()
        #expect(
            paper.text == """
                a.png   50 %
                0 of 3 uploaded
                \r\u{1B}[2A\u{1B}[Ja.png   50 %
                b.png   10 %
                0 of 3 uploaded
                \r\u{1B}[3A\u{1B}[J✓ a.png
                b.png   10 %
                1 of 3 uploaded
                \r\u{1B}[2A\u{1B}[J✗ b.png

                """
        )
        #expect(report.sentence == "uploaded 1 of 3; not uploaded: b.png, c.png")
        #expect(report.complaints.count == 1)
    }
}

/// The output, instead of a terminal.
final class Paper: Sendable {
    private let lock = NSLock()
    // Only under the lock.
    private nonisolated(unsafe) var written = ""

    var text: String { lock.withLock { written } }

    /// Returns a screen that collects its output.
    ///
    /// - Parameter width: The width of the terminal; `nil` for no terminal.
    func screen(width: Int? = nil) -> Screen {
        Screen(
            size: { width.map { Screen.Size(width: $0, height: 24) } },
            hasColors: false,
            write: { text in self.lock.withLock { self.written += text } }
        )
    }
}
