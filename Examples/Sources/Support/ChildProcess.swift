package import Foundation

/// A program as a process of its own.
///
/// A program that reads its standard input ends with it. The system closes that with this process, so the child also ends if this process is killed.
package final class ChildProcess: Sendable {
    private let process = Process()
    private let (input, output, messages) = (Pipe(), Pipe(), Pipe())

    package init(_ executable: URL, _ arguments: [String]) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = messages
        try process.run()
    }

    /// Returns the executable product of the build with a name, which is beside this program or the bundle of the tests; `nil` if it is not there.
    package static func product(_ name: String) -> URL? {
        let places = [URL(fileURLWithPath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
        return places.map { $0.deletingLastPathComponent().appending(path: name) }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }

    /// Reads the first line that the child prints, which must be short.
    ///
    /// - Throws: `ChildProcessEnded`, if the child ends without it.
    package func firstLine() async throws -> String {
        let line = try await Self.blocking { [output] in
            var line = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
                if byte.first == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) as String? }
                line += byte
            }
            return nil
        }
        guard let line else { throw ChildProcessEnded() }
        return line
    }

    package func interrupt() { kill(process.processIdentifier, SIGINT) }

    /// Ends the input of the child, waits for the end of the child, and returns the rest of its output and its messages, which must fit into a pipe.
    package func end() async throws -> (status: Int32, output: Data, messages: String) {
        try? input.fileHandleForWriting.close()
        return try await Self.blocking { [output, messages, process] in
            let output = try output.fileHandleForReading.readToEnd() ?? Data()
            let messages = try messages.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return (process.terminationStatus, output, String(decoding: messages, as: UTF8.self))
        }
    }

    /// Waits for the end of the standard input, in the child.
    package static func waitForEndOfInput() async {
        _ = try? await blocking { try FileHandle.standardInput.readToEnd() }
    }

    /// Runs code that blocks its thread, on a thread that no task needs.
    private static func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}

/// The error for a child that ended before it was ready.
package struct ChildProcessEnded: Error, CustomStringConvertible {
    package init() {}
    package var description: String { "the child process ended before it was ready" }
}

/// A folder for files, which is removed when the function ends, also by an error.
package enum TemporaryFolder {
    nonisolated(nonsending) package static func whileThere<Result>(
        _ body: nonisolated(nonsending) (URL) async throws -> Result
    ) async throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appending(path: "example-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder)
    }
}
