import Foundation

/// A process of this program or of etcd, which is signalled and ended by its number.
///
/// Sendable: immutable, apart from `Process`, which has a lock of its own.
final class ChildProcess: @unchecked Sendable {
    private let process = Process()
    private let list: ProcessList
    private let output: LineReader?

    /// Starts a process.
    ///
    /// - Parameters:
    ///   - list: The list in which the process is as long as it runs.
    ///   - log: The file for the output; `nil`: its lines are passed on.
    ///   - receive: Receives each line of the output, on one thread. A line that ends with the process and not with a newline is one as well.
    init(
        _ executable: URL,
        _ arguments: [String],
        in list: ProcessList,
        log: URL? = nil,
        receive: (@Sendable (Data) -> Void)? = nil
    ) throws {
        self.list = list
        output = receive.map(LineReader.init)
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        if let log {
            try Data().write(to: log)
            let file = try FileHandle(forWritingTo: log)
            (process.standardOutput, process.standardError) = (file, file)
        }
        if let output { process.standardOutput = output.pipe }
        try process.run()
        output?.start()
        do {
            try list.add(number)
        } catch {
            end()
            throw error
        }
    }

    var number: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// Sends a signal, unless the process has ended.
    func signal(_ signal: Int32) { if process.isRunning { kill(process.processIdentifier, signal) } }

    /// Kills the process, unless it has ended, and waits until it has ended and its output was received.
    ///
    /// - Returns: Whether the whole output was received within ten seconds.
    @discardableResult
    func end() -> Bool {
        signal(SIGKILL)
        process.waitUntilExit()
        list.remove(number)
        return output?.waitForEnd(seconds: 10) ?? true
    }
}
