import Foundation
import TaskControl
import TaskControlCalendar
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

/// A job of a server, which starts with the server.
private struct ReportJob: Sendable {
    let store: any CoordinationStore
    let write: @Sendable (String, Lease.FencingToken) async throws -> Void
    let wallClock: @Sendable () -> Date
    let berlin = TimeZone(identifier: "Europe/Berlin")!

    func start(in lifetime: AsyncLifetime) {
        lifetime.every(
            .day(at: "02:00", in: berlin),
            name: "nightly report",
            wallClock: wallClock
        ) { tick in
            try await runOnce("nightly report", for: tick.period, in: store) { lease in
                try await write(tick.period, lease.token)
            }
        }
    }
}

/// The recipe *At 02:00 on one of five machines* of the article *Recipes*.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct NightlyReportRecipeTests {
    @Test func ofFiveMachinesOneWritesTheReportOfEachNight() async throws {
        Diagnostics.keepQuiet()
        try await offThePool {
            try simulate(seeds: Schedules.seeds(200, inDebug: 2)) { sim in
                let (store, reports) = (MemoryStore(), OrderRecorder<String>())
                let machines = (0..<5).map { _ in AsyncLifetime() }
                for (number, lifetime) in machines.enumerated() {
                    // Clocks differ by some seconds.
                    let start = Zones.date("2026-10-24T00:30:00Z").addingTimeInterval(Double(number))
                    let job = ReportJob(store: store) { period, _ in
                        try await Task.sleep(for: .seconds(30))
                        reports.record(period)
                    } wallClock: {
                        start.addingTimeInterval(sim.now / .seconds(1))
                    }
                    job.start(in: lifetime)
                }
                try await Task.sleep(for: .seconds(49 * 3_600))
                sim.expect(
                    reports.events == ["2026-10-25T02:00:00+02:00", "2026-10-26T02:00:00+01:00"],
                    "\(reports.events)"
                )
                for lifetime in machines { await lifetime.shutdown(grace: .zero) }
            }
        }
    }
}
