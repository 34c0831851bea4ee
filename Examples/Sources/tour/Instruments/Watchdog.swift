import Foundation

/// Ends the process if a tour hangs. A wait that the tour makes itself gives up earlier and says for what it waited; this one is for a
/// task of a model that never ends.
struct Watchdog {
    private let task: Task<Void, any Error>

    init(limit: Duration) {
        task = Task.detached {
            try await Task.sleep(for: limit)
            Terminal.complain("no end after \(limit): a task that should have ended has not")
            exit(EX_SOFTWARE)
        }
    }

    func stop() {
        task.cancel()
    }
}
