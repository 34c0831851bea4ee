import ArgumentParser
import Foundation
import TaskControlFanOut
import TaskControlHTTP

struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload covers, a few at a time.",
        usage: "bookshelf upload <book>=<file> ... [<options>]"
    )

    @Argument(
        help: ArgumentHelp("A book's number, as list shows it, and the picture: 3=dune.png", valueName: "book>=<file"),
        completion: .file(),
        transform: CoverUpload.init(argument:)
    )
    var covers: [CoverUpload]

    @Option(
        name: .customLong("at-a-time"),
        help: ArgumentHelp("How many at most at the same time.", valueName: "count")
    )
    var simultaneous = 3

    @OptionGroup var options: ServerOptions

    func validate() throws {
        for cover in covers { _ = try cover.size() }
        guard (1...16).contains(simultaneous) else {
            throw ValidationError("--at-a-time \(simultaneous) is not from 1 to 16.")
        }
    }

    func run() async throws {
        let uploads = try covers.map { UploadBoard.Upload(name: $0.name, size: try $0.size()) }
        let board = UploadBoard(uploads, server: options.server, screen: .messages)
        let service = options.service(isOpenEnded: true, say: board.say)
        let notDone: @Sendable () async -> String? = {
            let report = await board.end()
            return report.isDone ? nil : report.sentence
        }
        try await Errand.run(server: options.server, announce: board.say, notDone: notDone) { [covers, simultaneous] in
            try await covers.upload(with: service, atMost: simultaneous, board)
            let report = await board.end()
            guard report.isDone else { throw Unfinished(report: report) }
            Screen.output.print(report.sentence)
        }
    }
}

extension [CoverUpload] {
    /// Uploads the covers in their order, a few at a time. If one fails, the others continue.
    ///
    /// ## Cancellation
    /// The uploads that run are cancelled, those that wait never begin, and all have ended when this throws `CancellationError`.
    ///
    /// - Parameter board: Receives the state of each upload.
    func upload(with service: any BookService, atMost simultaneous: Int, _ board: UploadBoard) async throws {
        try await enumerated().concurrentForEach(limit: simultaneous) { index, cover in
            board.report(index, .sending(0))
            do {
                _ = try await service.uploadCover(cover.file, of: cover.book) { board.report(index, .sending($0)) }
                board.report(index, .done)
            } catch {
                try Task.checkCancellation()
                board.report(index, .failed(error))
            }
        }
    }
}
