import Foundation

/// A process of this program or of etcd, which is signalled and ended by its number.
///
/// Sendable: the state is reached under the lock alone.
final class ChildProcess: @unchecked Sendable {
    private let process = Process()
    private let lock = NSLock()
    private var rest = Data()

    /// - Parameters:
    ///   - log: The file for the output; `nil`: its lines are passed on.
    ///   - receive: Receives a line of the output, on any thread.
    init(
        _ executable: URL,
        _ arguments: [String],
        log: URL? = nil,
        receive: (@Sendable (Data) -> Void)? = nil
    ) throws {
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        if let log {
            try Data().write(to: log)
            let file = try FileHandle(forWritingTo: log)
            (process.standardOutput, process.standardError) = (file, file)
        }
        if let receive {
            let pipe = Pipe()
            process.standardOutput = pipe
            pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
                let data = handle.availableData
                if data.isEmpty { handle.readabilityHandler = nil }
                for line in self?.lines(data) ?? [] { receive(line) }
            }
        }
        try process.run()
    }

    private func lines(_ data: Data) -> [Data] {
        lock.withLock {
            rest += data
            var lines: [Data] = []
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(rest[rest.startIndex..<end])
                rest = Data(rest[(end + 1)...])
            }
            return lines
        }
    }

    var number: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    /// Sends a signal, unless the process has ended.
    func signal(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Kills the process, and waits until it has ended.
    func end() {
        signal(SIGKILL)
        process.waitUntilExit()
    }
}
