import Foundation

/// Reads the lines of a pipe to its end, on a thread of its own.
///
/// Sendable: the rest of the last line belongs to the thread.
final class LineReader: Sendable {
    let pipe = Pipe()
    private let receive: @Sendable (Data) -> Void
    private let end = DispatchSemaphore(value: 0)

    init(_ receive: @escaping @Sendable (Data) -> Void) { self.receive = receive }

    /// Begins to read: the process that writes has been started.
    func start() { Thread.detachNewThread { [self] in read() } }

    /// Waits until the end of the pipe.
    ///
    /// - Returns: Whether it was reached in time.
    func waitForEnd(seconds: Int) -> Bool {
        guard end.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        // For the next call.
        end.signal()
        return true
    }

    private func read() {
        let source = pipe.fileHandleForReading.fileDescriptor
        var (buffer, rest) = ([UInt8](repeating: 0, count: 1 << 16), Data())
        while true {
            let count = Foundation.read(source, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            rest += buffer[..<count]
            while let newline = rest.firstIndex(of: UInt8(ascii: "\n")) {
                receive(Data(rest[..<newline]))
                rest = Data(rest[(newline + 1)...])
            }
        }
        if !rest.isEmpty { receive(rest) }
        end.signal()
    }
}
