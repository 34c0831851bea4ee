import Foundation
import TaskControl
import TaskControlFleet
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FleetFlightTests {
    private static func flight(_ store: any StoreOperations) -> FleetFlight<Int> {
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
            let error = await failure { _ = try await Self.flight(memory).value(for: "a") { 2 } } as? StoreError
            sim.expect(
                error?.reason == .operationFailed && error?.message.contains("refused") == true,
                "the text is that of the error"
            )
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

    /// Two versions of a program, of which the newer one has another type of value.
    @Test func aWaiterThatCannotReadAResultRunsItsOwnOperationOnceInItsTurn() async throws {
        try await inVirtualTime { sim in
            let (memory, running, runs) = (MemoryStore(), Locked(0), OrderRecorder<Int>())
            @Sendable func run(_ number: Int) async throws {
                let count = running.withLock { count in
                    count += 1
                    return count
                }
                sim.expect(count == 1, "one operation runs at a time")
                runs.record(number)
                try await Task.sleep(for: .seconds(1))
                running.withLock { $0 -= 1 }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(10 * number))
                        if number % 2 == 0 {
                            let old = FleetFlight<String>("tokens", in: memory, timeToLive: .seconds(10))
                            let value = try await old.value(for: "a") {
                                try await run(number)
                                return "old"
                            }
                            sim.expect(value == "old", "a value of the own version")
                        } else {
                            let value = try await Self.flight(memory).value(for: "a") {
                                try await run(number)
                                return number
                            }
                            sim.expect(value % 2 == 1, "a value of the own version")
                        }
                    }
                }
                try await group.waitForAll()
            }
            sim.expect(runs.events.first == 0, "the first one runs")
            sim.expect(Set(runs.events).count == runs.events.count, "no operation runs twice")
            sim.expect(runs.events.allSatisfy { $0 == 0 || $0 % 2 == 1 }, "those that can read a result receive it")
            sim.expect(try await memory.line("flight/tokens/a/line/").isEmpty, "the line is empty")
        }
    }

    @Test func twoFormsOfOneCharacterAreTwoKeysInAProcessAsInTheStore() async throws {
        try await inVirtualTime { sim in
            let flight = Self.flight(MemoryStore())
            async let one = flight.value(for: "\u{E9}") {
                try await Task.sleep(for: .seconds(1))
                return 1
            }
            async let other = flight.value(for: "e\u{301}") {
                try await Task.sleep(for: .seconds(1))
                return 2
            }
            let values = try await [one, other]
            sim.expect(values == [1, 2], "each key has its operation")
        }
    }

    @Test func anErrorOfReentrancyNamesTheKeyOfTheCaller() async throws {
        try await inVirtualTime { sim in
            let flight = Self.flight(MemoryStore())
            let error = await failure {
                _ = try await flight.value(for: "a") { try await flight.value(for: "a") { 1 } }
            }
            sim.expect((error as? ReentrancyError)?.key == "a", "\(String(describing: error))")
        }
    }

    #if SUBPROCESSES
    /// In a process of its own, since the configuration is that of the process.
    @Test func theTextOfAPublishedErrorIsRedacted() async {
        await #expect(processExitsWith: .success) {
            TaskDiagnostics.configure(.init(redact: { $0.replacing("secret", with: "…") }))
            let memory = MemoryStore()
            let error = await failure {
                _ = try await Self.flight(memory).value(for: "a") { throw MarkedError("the secret was refused") }
            }
            // The runner has its own error.
            guard error as? MarkedError == MarkedError("the secret was refused") else { exit(EXIT_FAILURE) }
            let stored = try await memory.line("flight/tokens/a/result").map {
                String(decoding: $0.value, as: UTF8.self)
            }
            guard stored.count == 1, stored[0].contains("the … was refused") else { exit(EXIT_FAILURE) }
        }
    }
    #endif

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
