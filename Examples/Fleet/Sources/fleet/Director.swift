import Foundation
import TaskControl

/// Starts the workers, kills one of them, and notes what happens.
struct Director {
    let options: NightOptions
    var store: StoreOptions
    let executable: URL

    /// Plays a night. The workers have ended when this returns.
    ///
    /// - Throws: `TimeoutError` if the workers do not end by the limit.
    func play(limit: Duration) async throws -> Night {
        let folder = FileManager.default.temporaryDirectory.appending(path: "taskcontrol-fleet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var store = store
        if store.etcd == nil { store.file = folder.appending(path: "fleet.sqlite").path }
        let workers = ["A", "B", "C"].map { WorkerProcess($0, executable, options.arguments + store.arguments) }
        defer { for worker in workers { worker.kill() } }
        return try await withTimeout(limit) { [store] in
            var night = try await play(workers)
            night.ledger = try await Ledger(in: store.makeStore())
            return night
        }
    }

    private func play(_ workers: [WorkerProcess]) async throws -> Night {
        let start = ProcessInfo.processInfo.systemUptime
        let (events, continuation) = AsyncStream<(WorkerProcess, String?)>.makeStream()
        for worker in workers { try worker.start { continuation.yield((worker, $0)) } }
        var night = Night(steps: options.steps, killStep: options.steps / 2)
        var living = workers.count
        for await (worker, line) in events {
            if let line {
                let report = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
                let time = Duration.seconds(report.time - start)
                if night.receive(report.event, report.token, from: worker.name, at: time) { worker.kill() }
            } else {
                night.ended(worker.name, at: .seconds(ProcessInfo.processInfo.systemUptime - start))
                living -= 1
                if living == 0 { return night }
            }
        }
        throw CancellationError()
    }
}
