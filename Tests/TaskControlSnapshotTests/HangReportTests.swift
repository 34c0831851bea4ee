import Dispatch
import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlSnapshot

/// Programs that hang, and programs that are only slow. Each is a process of its own: the reports are about a process,
/// and a blocked pool must not be that of the other tests.
@Suite(.timeLimit(.minutes(15)))
struct HangReportTests {
    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func aBlockedPoolIsStarved() async {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            // Each of these tasks blocks a thread, and none of them is a task of this library.
            for priority in [TaskPriority.low, .medium, .high] {
                for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
                    Task.detached(priority: priority) { reports.blockThread(until: .starved) }
                }
            }
            reports.blockThread(until: .starved)
            let report = reports.first(.starved)
            precondition(report.waits.isEmpty && report.description.hasPrefix("Starved: "), "\(report)")
        }
    }

    @Test(.oneProcessAtATime) func aCircleOfAPermitAndAFlightHangs() async {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            let (semaphore, flights) = (AsyncSemaphore(name: "connections", value: 1), SingleFlight<String, Int>())
            let (held, begun) = (Gate(), Gate())
            let holder = Task(name: "holder") {
                try await semaphore.withPermit {
                    held.open()
                    try await begun.wait()
                    return try await flights.value(for: "token") { 1 }
                }
            }
            try await held.wait()
            let caller = Task {
                try await flights.value(for: "token") {
                    begun.open()
                    return try await semaphore.withPermit { 2 }
                }
            }
            let hung = await reports.next(.hung)
            precondition(!hung.waits.isEmpty, "\(hung)")
            precondition(hung.snapshot.warnings.contains { if case .waitsForItself = $0 { true } else { false } })
            precondition(hung.snapshot.owners.contains { $0.name == "connections" && !$0.entries.isEmpty })
            precondition(hung.snapshot.owners.contains { $0.entries.contains { $0.key == "token" } })
            // A cancellation ends the circle.
            holder.cancel()
            _ = await holder.result
            let value = try await caller.value
            precondition(value == 2)
        }
    }

    @Test(.oneProcessAtATime) func aSlowServerIsSlow() async {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            let (queue, server, flights) = (FIFOQueue(name: "requests"), Gate(), SingleFlight<String, Void>())
            let first = queue.addTask(name: "first") { try await server.wait() }
            let second = queue.addTask(name: "second") { try await flights.value(for: "prices") {} }
            let flight = Task { try await flights.value(for: "names") { try await server.wait() } }
            await reports.expectSlow { reports in
                reports.contains { $0.snapshot.owners.contains { $0.name == "requests" && $0.entries.count == 2 } }
                    && reports.contains { $0.snapshot.owners.contains { $0.entries.contains { $0.key == "names" } } }
            }
            server.open()
            _ = try await (first.value, second.value, flight.value)
        }
    }

    @Test(.oneProcessAtATime) func aSlowServerBehindAPermitOfAcquireIsSlow() async {
        await #expect(processExitsWith: .success) {
            let reports = Reports()
            let (semaphore, server, held) = (AsyncSemaphore(name: "connections", value: 1), Gate(), Gate())
            let holder = Task {
                try await semaphore.acquire()
                held.open()
                try await server.wait()
                semaphore.release()
            }
            try await held.wait()
            let other = Task { try await semaphore.withPermit {} }
            // This task waits for the permit that it has: other code may release that one.
            let signal = AsyncSemaphore(name: "signal", value: 1)
            let receiver = Task { for _ in 0..<2 { try await signal.acquire() } }
            await reports.expectSlow { reports in
                ["connections", "signal"].allSatisfy { name in
                    reports.contains { $0.snapshot.owners.contains { $0.name == name && $0.permitsOut == 1 } }
                }
            }
            server.open()
            signal.release()
            _ = try await (holder.value, other.value, receiver.value)
        }
    }

    @Test(.oneProcessAtATime) func whatDependsOnEarlierWorkIsSlowUnlessItWasTracked() async {
        await #expect(processExitsWith: .success) {
            try await waitsForItself(expecting: .slow) {}
        }
        await #expect(processExitsWith: .success) {
            try await waitsForItself(expecting: .hung) { TaskSnapshot.startTracking() }
        }
    }

    @Test(.oneProcessAtATime) func aReportIsWrittenAndEmittedUnlessItIsReceived() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let seen = OrderRecorder<TaskEvent>()
            struct Seeing: TaskObserver {
                let seen: OrderRecorder<TaskEvent>

                func receive(_ event: TaskEvent) { if event.primitive == .taskSnapshot { seen.record(event) } }
            }
            TaskDiagnostics.install(Seeing(seen: seen))
            let registration = TaskSnapshot.reportHangs(after: .milliseconds(20))
            let (queue, server) = (FIFOQueue(name: "requests"), Gate())
            let first = queue.addTask { try await server.wait() }
            let second = queue.addTask {}
            try await seen.wait { $0.contains { $0.kind == .slow } }
            // The line is written after the event, and before the next report.
            let third = queue.addTask {}
            try await seen.wait { $0.filter { $0.kind == .slow }.count == 2 }
            registration.end()
            server.open()
            _ = try await (first.value, second.value, third.value)
            let event = seen.events.first { $0.kind == .slow }!
            precondition(event.severity == .warning && event.detail!.contains("FIFOQueue \"requests\""))
        }
        #expect(text(result).contains("TaskControl: Slow: 1 wait has lasted for more than 0.02 seconds"))
    }
    #endif

    @Test func theThreadEndsWithTheObservation() async throws {
        let gone = Gate()
        let registration = TaskSnapshot.reportHangs(after: .seconds(3_600)) { [token = Token(gone)] _ in
            withExtendedLifetime(token) {}
        }
        registration.end()
        // The thread retains the closure until it ends.
        try await gone.wait()
        withExtendedLifetime(registration) {}
    }

    private final class Token: Sendable {
        private let gone: Gate

        init(_ gone: Gate) {
            self.gone = gone
        }

        deinit { gone.open() }
    }

    @Test func theWatchGoesOnWhenTheRegistrationIsReleased() async throws {
        let (tracker, looked) = (TaskTracker(), Gate())
        let queue = FIFOQueue(name: "theWatchGoesOn")
        let watch = HangWatch(.milliseconds(1), tracker) { report in
            if report.snapshot.owners.contains(where: { $0.name == "theWatchGoesOn" }) { looked.open() }
        }
        let end = Locked<(() -> Void)?>(nil)
        do {
            let registration = watch.start(observing: true)
            weak let weakly = registration
            end.withLock { $0 = { weakly?.end() } }
        }
        let gate = Gate()
        let first = queue.addTask { try await gate.wait() }
        let second = queue.addTask {}
        try await looked.wait()
        end.withLock { $0 }?()
        gate.open()
        _ = try await (first.value, second.value)
    }

    @Test(.enabled(if: Simulation.isSupported)) func aSimulationStartsNoThread() async throws {
        try await offThePool {
            try simulate(seeds: 0..<3) { sim in
                let isRunning = Locked(false)
                sim.expect(!startThread { isRunning.withLock { $0 = true } })
                let observers = Observation.current.observers.count
                TaskSnapshot.reportHangs(after: .milliseconds(1)) { _ in isRunning.withLock { $0 = true } }
                sim.expect(Observation.current.observers.count == observers && !isRunning.withLock { $0 })
            }
        }
    }
}

/// The reports of a process.
private final class Reports: Sendable {
    private let reports = OrderRecorder<TaskSnapshot.HangReport>()
    /// Bare threads wait for it: they wait while the pool is blocked.
    private let condition = NSCondition()

    /// The limit is short: a circle stays a circle, and what is slow here waits for a report.
    init() {
        TaskSnapshot.reportHangs(after: .milliseconds(20)) { [self] report in
            condition.lock()
            reports.record(report)
            condition.broadcast()
            condition.unlock()
        }
    }

    func first(_ verdict: TaskSnapshot.HangReport.Verdict) -> TaskSnapshot.HangReport {
        reports.events.first { $0.verdict == verdict }!
    }

    func blockThread(until verdict: TaskSnapshot.HangReport.Verdict) {
        condition.lock()
        while !reports.events.contains(where: { $0.verdict == verdict }) { condition.wait() }
        condition.unlock()
    }

    /// Waits for the first report with a verdict.
    func next(_ verdict: TaskSnapshot.HangReport.Verdict) async -> TaskSnapshot.HangReport {
        await wait { $0.contains { $0.verdict == verdict } }
        return first(verdict)
    }

    private func wait(until isDone: ([TaskSnapshot.HangReport]) -> Bool) async {
        while true {
            let events = reports.events
            if isDone(events) { return }
            try? await reports.waitForEvents(count: events.count + 1)
        }
    }

    /// Waits until reports are enough. None of those of the process may be of a hang.
    func expectSlow(_ areEnough: ([TaskSnapshot.HangReport]) -> Bool) async {
        await wait { reports in areEnough(reports.filter { $0.verdict == .slow }) }
        precondition(!reports.events.contains { $0.verdict == .hung }, "\(reports.events)")
        let waits = reports.events.flatMap(\.waits)
        precondition(Set(waits).count == waits.count, "each wait is reported once: \(reports.events)")
    }
}

/// A call that holds a permit and waits for it, of a semaphore that is older than the reports.
private func waitsForItself(expecting verdict: TaskSnapshot.HangReport.Verdict, _ before: () -> Void) async throws {
    before()
    let semaphore = AsyncSemaphore(name: "old", value: 1)
    let held = Gate()
    let task = Task {
        try await semaphore.withPermit {
            held.open(); try await semaphore.withPermit {}
        }
    }
    try await held.wait()
    let reports = Reports()
    // A wait that began before is not seen without tracking: this one is.
    let other = Task { try await semaphore.withPermit {} }
    let report = await reports.next(verdict)
    precondition(report.snapshot.owners.contains { $0.name == "old" }, "\(report)")
    task.cancel()
    _ = await (task.result, other.result)
}
