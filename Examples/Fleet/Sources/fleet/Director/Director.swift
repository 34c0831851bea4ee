import Foundation
import TaskControl

/// Starts the workers, is the ledger that they write to, kills one of them, and notes what happens.
struct Director {
    let options: NightOptions
    let store: StoreOptions
    let executable: URL

    static let names = ["A", "B", "C"]

    /// Plays a night. The workers have ended when this returns.
    ///
    /// - Throws: `TimeoutError` if the workers do not end by then.
    func play(limit: Duration) async throws -> Night {
        let folder = FileManager.default.temporaryDirectory.appending(path: "taskcontrol-fleet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments = options.arguments + store.arguments(in: folder)
        let workers = Self.names.map { WorkerProcess($0, executable, arguments) }
        defer { for worker in workers { worker.kill() } }
        return try await withTimeout(limit) { try await play(workers) }
    }

    private func play(_ workers: [WorkerProcess]) async throws -> Night {
        // Writing to a worker that has ended is an error then, and does not end this process.
        _ = signal(SIGPIPE, SIG_IGN)
        let start = ProcessInfo.processInfo.systemUptime
        let (events, continuation) = AsyncStream<(WorkerProcess, WorkerProcess.Event)>.makeStream()
        for worker in workers { try worker.start { continuation.yield((worker, $0)) } }
        var night = Night(steps: options.steps, killStep: options.steps / 2)
        var living = workers.count
        for await (worker, event) in events {
            switch event {
            case .line(let line):
                let report = try Lines.decode(line, as: Report.self)
                let time = Duration.seconds(report.time - start)
                switch night.receive(report.message, from: worker.name, at: time) {
                case .reply(let reply, _): worker.send(reply)
                case .kill: worker.kill()
                case nil: break
                }
            case .ended:
                night.ended(worker.name, at: .seconds(ProcessInfo.processInfo.systemUptime - start))
                living -= 1
                if living == 0 { return night }
            }
        }
        try Task.checkCancellation()
        return night
    }
}
