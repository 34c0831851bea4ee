import Foundation

/// The program itself, in a process.
final class Bookshelf: Sendable {
    struct Ending: Sendable {
        let status: Int32
        let output: String
        let messages: String
    }

    /// The program, in the folder of the tests, where the build puts it; `nil` if it is not there.
    static let executable: URL? = {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let file = folder.appending(path: "bookshelf")
        return FileManager.default.isExecutableFile(atPath: file.path) ? file : nil
    }()

    private let process = Process()
    private let output = Pipe()
    private let messages = Pipe()
    private let ended: AsyncStream<Int32>

    /// Starts the program.
    ///
    /// - Parameter output: The file for the standard output; `nil`: ``end()`` returns the output.
    init(_ arguments: [String], output redirected: FileHandle? = nil) throws {
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = redirected ?? output
        if redirected != nil { try output.fileHandleForWriting.close() }
        process.standardError = messages
        let (ended, continuation) = AsyncStream<Int32>.makeStream()
        self.ended = ended
        process.terminationHandler = {
            continuation.yield($0.terminationStatus)
            continuation.finish()
        }
        try process.run()
    }

    func interrupt() { kill(process.processIdentifier, SIGINT) }

    /// Waits for its end. Its output fits into a pipe.
    func end() async -> Ending {
        let status = await ended.first { _ in true } ?? -1
        return Ending(status: status, output: Self.text(output), messages: Self.text(messages))
    }

    static func run(_ arguments: String...) async throws -> Ending {
        try await Bookshelf(arguments).end()
    }

    private static func text(_ pipe: Pipe) -> String {
        String(decoding: (try? pipe.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
    }
}
