import TaskControlTesting
import TestSupport
import Testing

@_spi(Observers) @testable import TaskControl

/// Opens a gate when it is deallocated.
private final class ObserverWithAnEnd: TaskObserver {
    private let end: Gate

    init(_ end: Gate) { self.end = end }

    deinit { end.open() }

    func receive(_ event: TaskEvent) {}
}

/// The configuration of diagnostics, and how observers come and go.
@Suite(.timeLimit(.minutes(15)))
struct TaskDiagnosticsTests {
    @Test func anObservationEndsWhenItIsReleased() async throws {
        let name = "TaskDiagnosticsTests.released"
        let collector = Collector { $0.ownerName == name }
        var observation: TaskDiagnostics.Registration? = TaskDiagnostics.observe(collector)
        _ = AsyncLifetime(name: name)
        #expect(!collector.events.isEmpty)
        withExtendedLifetime(observation) {}
        observation = nil
        let count = collector.events.count
        _ = AsyncLifetime(name: name)
        #expect(collector.events.count == count)
    }

    @Test func theObserverIsReleasedWithItsObservation() async throws {
        let isReleased = Gate()
        var observer: ObserverWithAnEnd? = ObserverWithAnEnd(isReleased)
        let observation = TaskDiagnostics.observe(try #require(observer))
        observer = nil
        #expect(!isReleased.isOpen)
        observation.end()
        // An event on another thread may keep the observer until it has been delivered.
        try await isReleased.wait()
    }

    @Test func aCancelledLoopEnds() async throws {
        let (events, begun) = (TaskDiagnostics.events(), Gate())
        let task = Task {
            begun.open()
            for await _ in events {}
        }
        try await begun.wait()
        task.cancel()
        await task.value
    }

    @Test func eventsThatAreNotReceivedInTimeAreCounted() async throws {
        let events = TaskDiagnostics.events(bufferingNewest: 2)
        for _ in 0..<5 { _ = AsyncLifetime() }
        // Each lifetime has two events; other tests may add more.
        #expect(events.droppedCount >= 8)
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    #if SUBPROCESSES
    // In a process of its own, since the tests that run beside it have events too.
    @Test(.oneProcessAtATime) func theEventsAreASequence() async throws {
        await #expect(processExitsWith: .success) {
            let events = TaskDiagnostics.events()
            let queue = FIFOQueue(name: "saves")
            await Task(on: queue) {}.value
            var kinds: [TaskEvent.Kind] = []
            for await event in events where event.ownerName == "saves" {
                kinds.append(event.kind)
                if event.outcome != nil { break }
            }
            precondition(kinds == [.created, .enqueued, .started, .completed], "\(kinds)")
            precondition(events.droppedCount == 0)
        }
    }

    @Test(.oneProcessAtATime) func anUpdateLeavesTheOtherSettings() async throws {
        await #expect(processExitsWith: .success) {
            TaskDiagnostics.update { $0.reportsMistakes = false }
            TaskDiagnostics.update { $0.redact = { _ in "…" } }
            precondition(!TaskDiagnostics.configuration.reportsMistakes)
            precondition(TaskDiagnostics.configuration.redact?("secret") == "…")
            TaskDiagnostics.configure(.init())
            precondition(TaskDiagnostics.configuration.reportsMistakes)
            precondition(TaskDiagnostics.configuration.redact == nil)
        }
    }

    @Test(.oneProcessAtATime) func anUpdateDoesNotSetTheTimeOfEventsBack() async throws {
        await #expect(processExitsWith: .success) {
            let clock = TestClock()
            TaskDiagnostics.configure(.init(clock: clock))
            let observation = TaskDiagnostics.observe(SystemLog())
            await clock.advance(by: .seconds(5))
            TaskDiagnostics.update { $0.reportsMistakes = false }
            precondition(TaskDiagnostics.eventTime == .seconds(5))
            observation.end()
        }
    }

    @Test(.oneProcessAtATime) func anUpdateMayChangeTheObservers() async throws {
        await #expect(processExitsWith: .success) {
            var calls = 0
            TaskDiagnostics.update {
                calls += 1
                // If the closure were called again, it would never end.
                precondition(calls == 1)
                TaskDiagnostics.install(SystemLog())
                $0.reportsMistakes = false
            }
            precondition(!TaskDiagnostics.configuration.reportsMistakes && TaskDiagnostics.eventTime != nil)
        }
    }

    @Test(.oneProcessAtATime) func updatesOfManyThreadsAreAllKept() async throws {
        await #expect(processExitsWith: .success) {
            await withTaskGroup { group in
                for number in 0..<100 {
                    group.addTask {
                        TaskDiagnostics.update { configuration in
                            let redact = configuration.redact ?? { $0 }
                            configuration.redact = { redact($0) + " \(number)" }
                        }
                    }
                }
            }
            let numbers = TaskDiagnostics.configuration.redact?("").split(separator: " ").compactMap { Int($0) } ?? []
            precondition(numbers.sorted() == Array(0..<100))
        }
    }
    #endif
}
