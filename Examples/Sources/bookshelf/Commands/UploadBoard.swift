import Foundation
import TaskControlHTTP

/// The progress of several uploads: for the user, and for the summary at the end.
///
/// It is notified from any thread, without waiting, and receives everything in the order in which it was said.
actor UploadBoard {
    enum State: Sendable {
        case waiting
        case sending(Int64)
        case done
        case failed(any Error)
    }

    struct Upload: Sendable {
        let name: String
        let size: Int64
        var state = State.waiting
    }

    private var uploads: [Upload]
    private let server: URL
    private let screen: Screen
    private var region = LiveRegion()
    /// The last progress that was printed of each upload, where lines can't be overwritten: a quarter at a time.
    private var quarters: [Int: Int] = [:]
    private let queue = ActorQueue<UploadBoard>(name: "board")

    init(_ uploads: [Upload], server: URL, screen: Screen) {
        self.uploads = uploads
        self.server = server
        self.screen = screen
        queue.adoptExecutionContext(of: self)
    }

    nonisolated func report(_ index: Int, _ state: State) {
        queue.addTask { board in board.change(index, state) }
    }

    /// Says something above what is drawn.
    nonisolated func say(_ line: String) {
        queue.addTask { board in board.show(above: [line]) }
    }

    /// Takes away what is drawn, after all that was said before.
    ///
    /// - Returns: The results of the uploads.
    nonisolated func end() async -> BatchReport {
        await queue.addTask { board in board.finish() }.value
    }

    private func change(_ index: Int, _ state: State) {
        let before = uploads[index]
        uploads[index].state = state
        switch state {
        case .done where screen.size() != nil:
            show(above: [screen.colored("✓ ", .green) + before.name.printable])
        case .failed where screen.size() != nil:
            show(above: [screen.colored("✗ ", .red) + before.name.printable])
        default:
            show(above: plainLines(index))
        }
    }

    private func show(above: [String]) {
        guard let size = screen.size() else {
            for line in above { screen.print(line) }
            return
        }
        screen.write(region.draw(Self.lines(uploads, width: size.width - 1), above: above, size: size))
    }

    private func finish() -> BatchReport {
        if let size = screen.size() { screen.write(region.clear(size: size)) }
        return report
    }

    private var report: BatchReport {
        BatchReport(
            verb: "uploaded",
            uploads.map { upload in
                let outcome: BatchReport.Outcome =
                    switch upload.state {
                    case .waiting: .notDone(percent: nil)
                    case .sending: .notDone(percent: upload.line.percent)
                    case .done: .done
                    case .failed(let error): .failed(Complaint(error, server: server).text)
                    }
                return BatchReport.Item(name: upload.name.printable, outcome: outcome)
            }
        )
    }

    /// Returns a line for each upload that is in progress, and one for all uploads.
    static func lines(_ uploads: [Upload], width: Int) -> [String] {
        let underWay = uploads.filter { if case .sending = $0.state { true } else { false } }
        let done = uploads.count { if case .done = $0.state { true } else { false } }
        guard !underWay.isEmpty else { return [] }
        return underWay.map { $0.line.text(width: width) } + ["\(done) of \(uploads.count) uploaded".cut(to: width)]
    }

    private func plainLines(_ index: Int) -> [String] {
        guard screen.size() == nil else { return [] }
        if case .failed = uploads[index].state { return [] }
        let quarter = uploads[index].line.percent / 25
        guard quarters[index] != quarter else { return [] }
        quarters[index] = quarter
        return ["\(uploads[index].name.printable): \(quarter * 25) %"]
    }
}

extension UploadBoard.Upload {
    fileprivate var line: ProgressLine {
        switch state {
        case .waiting, .failed: ProgressLine(name: name, sent: 0, total: size)
        case .sending(let sent): ProgressLine(name: name, sent: sent, total: size)
        case .done: ProgressLine(name: name, sent: size, total: size, isDone: true)
        }
    }
}
