import Foundation

/// The numbers of the processes that run, in a file, for a script that must end them if this process is killed.
///
/// Sendable: the state is reached under the lock alone.
final class ProcessList: @unchecked Sendable {
    private let file: URL
    private let lock = NSLock()
    private var numbers: Set<Int32> = []

    init(_ file: URL) { self.file = file }

    func add(_ number: Int32) throws {
        try lock.withLock {
            numbers.insert(number)
            try write()
        }
    }

    /// Removes a process that has ended: its number can become that of another process. The file of no process is removed.
    func remove(_ number: Int32) {
        lock.withLock {
            guard numbers.remove(number) != nil else { return }
            if numbers.isEmpty { try? FileManager.default.removeItem(at: file) } else { try? write() }
        }
    }

    private func write() throws {
        let text = numbers.sorted().map { "\($0)\n" }.joined()
        try Data(text.utf8).write(to: file, options: .atomic)
    }
}
