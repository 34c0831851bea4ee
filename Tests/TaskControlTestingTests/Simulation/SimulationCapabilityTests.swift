import TaskControl
import TestSupport
import Testing

@testable import TaskControlTesting

@Suite(.timeLimit(.minutes(15)), .tags(.schedules))
struct SimulationCapabilityTests {
    #if os(Linux)
    @Test func thisPlatformHasAllCapabilities() {
        #expect(Simulation.capabilities == .all)
        #expect(Simulation.isSupported)
    }
    #else
    @Test(.enabled(if: !Simulation.isSupported)) func whereThereIsNoSimulationItSaysSo() {
        #expect(throws: Simulation.UnsupportedError.self) { try simulate(seed: 1) { _ in } }
    }
    #endif

    @Test func theErrorNamesWhatIsMissing() {
        #expect(Simulation.UnsupportedError().missing == .all.subtracting(Simulation.capabilities))
        let error = Simulation.UnsupportedError(missing: [.schedules, .watchdog])
        #expect(error.description.contains("lacks schedules, watchdog."))
    }

    @Test func aSetShowsTheNamesOfItsMembers() {
        #expect(
            "\(SimulationCapabilities.all)"
                == "schedules, createdTasks, hops, virtualTime, taskStates, escapes, crashNotes, watchdog"
        )
        #expect("\(SimulationCapabilities())" == "")
    }
}

/// A simulation that lacks a capability says less, and nothing wrong.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.capabilities == .all), .tags(.schedules))
struct SimulationWithoutTaskStatesTests {
    private func run(_ body: @escaping SimulationPlan.Body) -> SimulationResult {
        let location = Simulation.Location(fileID: #fileID, filePath: #filePath, line: #line, column: #column)
        let call = SimulationCall(maxSteps: 1_000, location: location)
        let capabilities = SimulationCapabilities.all.subtracting(.taskStates)
        return SimulationSupport.run(
            SimulationPlan(seed: 1, strategy: .random, call: call, capabilities: capabilities),
            body
        )
    }

    @Test func aBodyThatReturnsPassesAlthoughATaskWaits() {
        let result = run { _ in
            let isWaiting = Gate()
            _ = Task {
                isWaiting.open()
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            try await isWaiting.wait()
        }
        #expect(result.reason == nil)
    }

    @Test func aDeadlockShowsTheBodyAlone() {
        let result = run { _ in
            await Task(name: "lost") {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }.value
        }
        guard case .deadlock = result.reason else {
            Issue.record("the run did not end as a deadlock: \(String(describing: result.reason))")
            return
        }
        #expect(result.unfinished.map(\.description) == ["#0 body has not ended"])
    }
}
