import Foundation
import TaskControl
import TaskControlCalendar
import TaskControlFleet
import TaskControlSupervision
import TaskControlTesting

/// A server that works on an export for a while, and counts the requests for its state.
final class ExportServer: Sendable {
    enum State: Sendable { case running, done }
    struct Unavailable: Error {}

    private let clock: TestClock
    /// The time at which the export is done; `nil` for never.
    private let end: Duration?
    private let failing: Int?
    let requests = Observed(0)

    /// Creates a server. `failing` is the number of the request that fails, counted from 1; `nil` for none.
    init(_ clock: TestClock, end: Duration?, failing: Int? = nil) {
        (self.clock, self.end, self.failing) = (clock, end, failing)
    }

    func state() async throws -> State {
        let number = requests.update { count in
            count += 1
            return count
        }
        if number == failing { throw Unavailable() }
        return end.map { clock.now.offset >= $0 } ?? false ? .done : .running
    }
}

enum Exports {
    /// Waits as people write it: until it is done, each second.
    static func waitNaively(for server: ExportServer, _ clock: TestClock) async throws {
        while try await server.state() != .done { try await clock.sleep(for: .seconds(1)) }
    }

    static func wait(for server: ExportServer, _ clock: TestClock) async throws {
        let backoff = RetryBackoff.exponential(base: .seconds(1), factor: 1.5).capped(at: .seconds(15))
        _ = try await poll(every: backoff, clock: clock) {
            try await server.state()
        } until: {
            $0 == .done
        }
    }
}

/// A screen whose poll waits for a server that does not answer.
@MainActor final class PollingScreen {
    private(set) var answers = 0
    private let lifetime = AsyncLifetime(name: "polling screen")
    private var polling: Task<Void, Never>?

    /// Polls as people write it: the task uses the screen.
    func startNaively(_ answer: Gate, asked: Gate) {
        polling = Task {
            asked.open()
            try? await answer.wait()
            answers += 1
        }
    }

    func start(_ answer: Gate, asked: Gate) {
        lifetime.every(.seconds(30), initialDelay: .zero, for: self) {
            asked.open()
            try await answer.wait()
        } deliver: { screen, _ in
            screen.answers += 1
        }
    }
}

/// A machine of a service, which writes a report each night.
struct ReportMachine: Sendable {
    struct Crash: Error {}

    let store: any CoordinationStore
    let reports: Observed<Int>
    /// Whether the machine crashes in the middle of its report.
    var crashes = false

    /// Writes the report as people write it: on each machine.
    func writeNaively() async throws { try await write() }

    func writeOnce() async throws {
        try await runOnce("nightly report", for: "2026-11-24", in: store) { _ in try await write() }
    }

    private func write() async throws {
        if crashes { throw Crash() }
        reports.update { $0 += 1 }
    }
}
