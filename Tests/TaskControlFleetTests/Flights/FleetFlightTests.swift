import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FleetFlightTests {
    private static func flight(_ store: any CoordinationStore) -> FleetFlight<Int> {
        FleetFlight("tokens", in: store, timeToLive: .seconds(10))
    }

    @Test func oneProcessRunsTheOperationAndAllReceiveItsValue() async throws {
        try await inVirtualTime { sim in
            let (memory, runs) = (MemoryStore(), Locked(0))
            let values = try await withThrowingTaskGroup(of: Int.self) { group in
                for process in 0..<4 {
                    let flight = Self.flight(memory)
                    for caller in 0..<2 {
                        group.addTask {
                            try await Task.sleep(for: .milliseconds(10 * process + caller))
                            return try await flight.value(for: "a/b") {
                                runs.withLock { $0 += 1 }
                                try await Task.sleep(for: .seconds(20))
                                return process
                            }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            sim.expect(values == Array(repeating: 0, count: 8), "all receive the value of the first")
            sim.expect(runs.withLock(\.self) == 1, "the operation has run once")
            sim.expect(sim.now < .milliseconds(20_100), "the waiters receive it together")
            sim.expect(try await memory.line("flight/tokens/a%2Fb/line/").isEmpty, "the line is empty")
            try await Task.sleep(for: .seconds(11))
            sim.expect(try await memory.line("flight/").isEmpty, "the result is gone with its lease")
        }
    }

    @Test func aCallerThatComesLaterRunsTheOperationAgain() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let first = try await Self.flight(memory).value(for: "a") { 1 }
            let second = try await Self.flight(memory).value(for: "a") { 2 }
            sim.expect(first == 1 && second == 2, "nothing is kept")
        }
    }

    @Test func aFailureIsPublishedAsAText() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let first = Task {
                try await Self.flight(memory).value(for: "a") {
                    try await Task.sleep(for: .seconds(1))
                    throw MarkedError("refused")
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let error = await failure { _ = try await Self.flight(memory).value(for: "a") { 2 } } as? FleetFlightError
            sim.expect(error?.key == "a" && error?.message.contains("refused") == true, "the text is that of the error")
            sim.expect(await failure { _ = try await first.value } is MarkedError, "the runner has its own error")
        }
    }

    @Test func theNextWaiterRunsTheOperationOfARunnerThatLeaves() async throws {
        try await inVirtualTime { sim in
            let (memory, started) = (MemoryStore(), Gate())
            let first = Task {
                try await Self.flight(memory).value(for: "a") {
                    started.open()
                    try await Gate().wait()
                    return 1
                }
            }
            try await started.wait()
            let second = Task { try await Self.flight(memory).value(for: "a") { 2 } }
            try await Task.sleep(for: .seconds(1))
            first.cancel()
            sim.expect(await failure { _ = try await first.value } is CancellationError, "the first one has left")
            sim.expect(try await second.value == 2, "the second one runs it")
            sim.expect(sim.now < .seconds(2), "it does not wait for the end of the lease")
        }
    }

    @Test func theNextWaiterRunsTheOperationOfARunnerThatDies() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let (store, started) = (FaultyStore(memory), Gate())
            let first = Task {
                try await Self.flight(store).value(for: "a") {
                    started.open()
                    try await Gate().wait()
                    return 1
                }
            }
            try await started.wait()
            let second = Task { try await Self.flight(memory).value(for: "a") { 2 } }
            try await Task.sleep(for: .milliseconds(100))
            store.fail { _ in .hang }
            sim.expect(try await second.value == 2, "the second one runs it")
            sim.expect(sim.now < .seconds(11), "it waits for the end of the lease")
            sim.expect(
                await failure { _ = try await first.value } is LeaseLostError,
                "the first one has lost its lease"
            )
        }
    }

    @Test func aResultThatCannotBePublishedLeavesTheOperationToTheNextWaiter() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            func flight() -> FleetFlight<Double> { FleetFlight("numbers", in: memory, timeToLive: .seconds(10)) }
            let first = Task {
                try await flight().value(for: "a") {
                    try await Task.sleep(for: .seconds(1))
                    // Not a number in JSON.
                    return Double.infinity
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let second = try await flight().value(for: "a") { 2 }
            sim.expect(try await first.value == .infinity && second == 2, "both have a value")
        }
    }

    @Test func aResultOfAnotherTypeIsAnError() async throws {
        try await inVirtualTime { sim in
            let memory = MemoryStore()
            let texts = FleetFlight<String>("tokens", in: memory, timeToLive: .seconds(10))
            let first = Task {
                try await texts.value(for: "a") {
                    try await Task.sleep(for: .seconds(1))
                    return "text"
                }
            }
            try await Task.sleep(for: .milliseconds(100))
            let error = await failure { _ = try await Self.flight(memory).value(for: "a") { 2 } }
            sim.expect(error is FleetFlightError, "the result cannot be read")
            sim.expect(try await first.value == "text", "the runner has its value")
        }
    }

    @Test func callersThatAreCancelledLeaveNothingBehind() async throws {
        try await inVirtualTime(1_000) { sim in
            let memory = MemoryStore()
            let tasks = (0..<3).map { number in
                let flight = Self.flight(memory)
                return Task {
                    try await flight.value(for: "a") {
                        try await Task.sleep(for: .milliseconds(1))
                        return number
                    }
                }
            }
            sim.cancelAtAnyPoint(tasks[0])
            sim.cancelAtAnyPoint(tasks[1])
            for task in tasks { _ = await task.result }
            sim.expect((try? await tasks[2].value) != nil, "a caller that stays has a value")
            // A flight whose callers have left ends by itself.
            try await Task.sleep(for: .seconds(1))
            sim.expect(try await memory.line("flight/tokens/a/line/").isEmpty, "the line is empty")
        }
    }
}
