import Foundation

/// This program once more, as a process of its own.
///
/// The child ends when its standard input ends. The system closes that with this process, so the child also ends if this process is killed.
final class ChildProcess: Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(_ executable: URL, _ arguments: [String]) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Reads the first line that the child prints, which must be short.
    ///
    /// - Throws: `ChildProcessEnded`, if the child ends without it.
    func firstLine() async throws -> String {
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

    /// Ends the input of the child, waits for the end of the child, and returns the rest of its output.
    func end() async throws -> Data {
        try input.fileHandleForWriting.close()
        return try await Self.blocking { [output] in try output.fileHandleForReading.readToEnd() ?? Data() }
    }

    /// Waits for the end of the standard input, in the child.
    static func waitForEndOfInput() async {
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
struct ChildProcessEnded: Error, CustomStringConvertible {
    var description: String { "the child process ended before it was ready" }
}
