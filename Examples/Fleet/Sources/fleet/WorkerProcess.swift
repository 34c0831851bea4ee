import Foundation

/// A process of the fleet: this program once more.
///
/// The worker ends when its standard input ends. The system closes that with this process, so the worker also ends if this process is killed.
final class WorkerProcess: Sendable {
    let name: String
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())

    init(_ name: String, _ executable: URL, _ arguments: [String]) {
        self.name = name
        process.executableURL = executable
        process.arguments = ["worker", "--name", name] + arguments
        process.standardInput = input
        process.standardOutput = output
        // Otherwise the other workers hold the pipes open.
        for pipe in [input, output] {
            for handle in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                _ = fcntl(handle.fileDescriptor, F_SETFD, FD_CLOEXEC)
            }
        }
    }

    /// Starts the process. `report` is called on a thread of its own for each line, and with `nil` at the end.
    func start(_ report: @escaping @Sendable (String?) -> Void) throws {
        try process.run()
        Thread.detachNewThread { [output, process] in
            var buffer = Data()
            while let data = try? output.fileHandleForReading.read(upToCount: 1), !data.isEmpty {
                if data.first != UInt8(ascii: "\n") {
                    buffer += data
                } else {
                    report(String(decoding: buffer, as: UTF8.self))
                    buffer = Data()
                }
            }
            process.waitUntilExit()
            report(nil)
        }
    }

    /// Ends the process with kill -9: it can do nothing about it.
    func kill() {
        // Its number may belong to another process once it has ended.
        if process.isRunning { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
    }
}
