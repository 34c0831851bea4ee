import TaskControl
import TaskControlTesting
import TestSupport
import Testing

private struct Export: Sendable {
    enum State: Sendable { case running, done, failed }
    let state: State
}

private struct ExportFailed: Error {}

/// A server whose export is done at a time, or fails then.
private struct ExportServer: Sendable {
    let time: @Sendable () -> Duration
    let end: Duration
    var result = Export.State.done
    var outage: Range<Duration>?

    func export(_ id: String) async throws -> Export {
        try await Task.sleep(for: .milliseconds(200))
        if let outage, outage.contains(time()) { throw MarkedError("outage") }
        return Export(state: time() < end ? .running : result)
    }
}

private func finishedExport(_ id: String, of server: ExportServer) async throws
    -> Export
{
    try await poll(within: .seconds(120)) {
        try await withTimeout(.seconds(10)) { try await server.export(id) }
    } until: { export in
        if export.state == .failed { throw ExportFailed() }
        return export.state == .done
    }
}

/// The recipe *Poll until* of the article *Recipes*.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct PollUntilRecipeTests {
    @Test func theExportIsReturnedSoonAfterItIsDone() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 50)) { sim in
            let server = ExportServer(time: { sim.now }, end: .seconds(40), outage: .seconds(5)..<(.seconds(20)))
            let export = try await finishedExport("7", of: server)
            sim.expect(export.state == .done && sim.now >= .seconds(40) && sim.now < .seconds(56))
        }
    }

    @Test func aFailedExportAndALongOneAreErrors() throws {
        try simulate(seeds: Schedules.seeds(1_000, inDebug: 50)) { sim in
            do {
                _ = try await finishedExport("7", of: ExportServer(time: { sim.now }, end: .zero, result: .failed))
                sim.expect(false, "the export has failed")
            } catch {
                sim.expect(error is ExportFailed && sim.now < .seconds(1))
            }
            do {
                _ = try await finishedExport("8", of: ExportServer(time: { sim.now }, end: .seconds(1_000)))
                sim.expect(false, "the export takes longer")
            } catch {
                let error = error as? PollTimeoutError
                sim.expect((error?.lastValue as? Export)?.state == .running && sim.now <= .seconds(121))
            }
        }
    }
}
