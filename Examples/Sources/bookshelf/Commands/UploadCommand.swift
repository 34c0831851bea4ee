import ArgumentParser
import Foundation
import Support
import TaskControlFanOut

struct UploadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload",
        abstract: "Upload covers, a few at a time.",
        usage: "bookshelf upload <book>=<file> ... [<options>]"
    )

    @Argument(
        help: "A book's number, as list shows it, and the picture: 3=dune.png",
        transform: CoverUpload.init(argument:)
    )
    var covers: [CoverUpload]

    @Option(name: .customLong("at-a-time"), help: "How many at most at the same time.")
    var simultaneous = 3

    @OptionGroup var options: ServerOptions

    func validate() throws {
        guard (1...16).contains(simultaneous) else {
            throw ValidationError("--at-a-time \(simultaneous) is not from 1 to 16.")
        }
    }

    func run() async throws {
        let batch = Batch(verb: "uploaded", names: covers.map(\.name))
        let service = BookService(client: options.client(isOpenEnded: true))
        try await Errand.run(server: options.server, notDone: batch.notDone) { [self] in
            try await covers.upload(with: service, atMost: simultaneous, batch)
            if let sentence = await batch.notDone() { throw Unfinished(description: sentence) }
        }
    }
}

/// A file that is to become a book's cover: `3=dune.png`.
struct CoverUpload: Sendable, Hashable {
    let book: Book.ID
    let file: URL
    let size: Int64

    init(argument: String) throws {
        let parts = argument.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let book = Int(parts[0]) else {
            throw ValidationError("'\(argument)' names no book and file: write <book>=<file>, such as 3=dune.png.")
        }
        self.book = book
        file = URL(fileURLWithPath: String(parts[1]))
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        guard let size = attributes?[.size] as? NSNumber, attributes?[.type] as? FileAttributeType == .typeRegular
        else {
            throw ValidationError("There is no file '\(parts[1])'.")
        }
        self.size = size.int64Value
    }

    var name: String { file.lastPathComponent }

    /// Returns the progress in whole percents: 100 is for the answer. Bytes that have been sent may still be on their way.
    func percent(_ sent: Int64) -> Int { size == 0 ? 0 : Int(min(99, sent * 100 / size)) }
}

extension [CoverUpload] {
    /// Uploads the covers in their order, a few at a time. If one fails, the others continue.
    ///
    /// ## Cancellation
    /// The uploads that run are cancelled, those that wait never begin, and all have ended when this throws `CancellationError`.
    ///
    /// `batch` receives the state of each upload.
    func upload(with service: BookService, atMost simultaneous: Int, _ batch: Batch) async throws {
        try await enumerated().concurrentForEach(limit: simultaneous) { index, cover in
            batch.report(index, .running(percent: 0))
            do {
                _ = try await service.uploadCover(cover.file, of: cover.book) {
                    batch.report(index, .running(percent: cover.percent($0)))
                }
                batch.report(index, .done)
            } catch {
                try Task.checkCancellation()
                batch.report(index, .failed("\(error)"))
            }
        }
    }
}
