import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The context that reaches the work, the flights that it may ask for, and the memory that it leaves.
extension SingleFlightTests {
    // MARK: What reaches the work

    @TaskLocal private static var request = "none"

    @Test func theFirstCallersContextReachesTheWork() async throws {
        let value = try await Self.$request.withValue("first") {
            try await Task(name: "caller", priority: .low) {
                try await SingleFlight<String, [String]>().value(for: "key") {
                    [Self.request, Diagnostics.currentTaskName ?? "", "\(Task.basePriority == .low)"]
                }
            }.value
        }
        #expect(value == ["first", "caller", "true"])
    }

    @Test @MainActor func workRunsWhereItIsWritten() async throws {
        var count = 0
        let value = try await SingleFlight<String, Int>().value(for: "key") {
            MainActor.assertIsolated()
            count += 1
            return count
        }
        #expect(value == 1)
        _ = try await withSingleFlight(key: "workRunsWhereItIsWritten") {
            MainActor.assertIsolated()
            count += 1
        }
        #expect(count == 2)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aJoinerRaisesTheFlight() async throws {
        let (gate, raised) = (Gate(), Gate())
        let first = Task(priority: .low) {
            try await flights.value(for: "token") {
                try await withTaskPriorityEscalationHandler {
                    try await self.work(until: gate)
                } onPriorityEscalated: { _, _ in
                    raised.open()
                }
            }
        }
        try await gate.waitForWaiters()
        let second = Task(priority: .high) { try await flights.value(for: "token") { 0 } }
        try await raised.wait()
        gate.open()
        #expect(try await first.value == 42)
        #expect(try await second.value == 42)
    }

    // MARK: Re-entry

    @Test func askingForOneselfIsAnError() async throws {
        let error = await #expect(throws: ReentrancyError.self) {
            try await flights.value(for: "a") { try await flights.value(for: "a") { 1 } }
        }
        #expect(error?.key == "a" && error?.queueName == nil)
        #expect(error?.description.contains("\"a\"") == true)
        await #expect(throws: ReentrancyError.self) {
            try await withSingleFlight(key: "asking") { try await withSingleFlight(key: "asking") { 1 } }
        }
    }

    @Test func askingForOneselfThroughOthersIsAnError() async throws {
        let others = SingleFlight<String, Int>()
        await #expect(throws: ReentrancyError.self, "a child task") {
            try await flights.value(for: "a") {
                async let value = flights.value(for: "a") { 1 }
                return try await value
            }
        }
        await #expect(throws: ReentrancyError.self, "another key's flight, and another object's") {
            try await flights.value(for: "a") {
                try await flights.value(for: "b") {
                    try await others.value(for: "a") { try await flights.value(for: "a") { 1 } }
                }
            }
        }
        let value = try await flights.value(for: "a") { try await others.value(for: "a") { 5 } }
        #expect(value == 5, "the same key elsewhere is another flight")
    }

    @Test func theFlightOfAnotherObjectIsNotTakenForOnesOwn() async throws {
        // Both are the first of their objects, and so have the same ID.
        let (one, other, gate) = (SingleFlight<String, Int>(), SingleFlight<String, Int>(), Gate())
        let first = Task { try await other.value(for: "a") { try await self.work(until: gate) } }
        try await gate.waitForWaiters()
        let second = Task { try await one.value(for: "a") { try await other.value(for: "a") { 0 } } }
        try await waitForCallers(2, on: other._flights)
        gate.open()
        #expect(try await (first.value, second.value) == (42, 42))
    }

    @Test func flightsThatAskForEachOtherAreAnErrorForOneOfThem() async throws {
        let (a, b) = (Gate(), Gate())
        let one = Task {
            try await flights.value(for: "a") {
                a.open()
                try await b.wait()
                return try await flights.value(for: "b") { 0 }
            }
        }
        let other = Task {
            try await flights.value(for: "b") {
                b.open()
                try await a.wait()
                return try await flights.value(for: "a") { 0 }
            }
        }
        let results = await [one.result, other.result]
        let errors = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
        #expect(errors.count == 2, "the one fails, and the other with it")
        #expect(errors.allSatisfy { ($0 as? ReentrancyError)?.key != nil })
    }

    @Test func flightsOfTwoObjectsThatAskForEachOtherAreAnErrorForOneOfThem() async throws {
        let (one, other) = (SingleFlight<Int, Int>(), SingleFlight<Int, Int>())
        let (first, second) = (Gate(), Gate())
        let callers = [
            Task {
                try await one.value(for: 1) {
                    first.open()
                    try await second.wait()
                    return try await other.value(for: 1) { 0 }
                }
            },
            Task {
                try await other.value(for: 1) {
                    second.open()
                    try await first.wait()
                    return try await one.value(for: 1) { 0 }
                }
            },
        ]
        for caller in callers { await #expect(throws: ReentrancyError(key: "1")) { try await caller.value } }
        #expect(try await one.value(for: 1) { 1 } == 1, "the key can be used again")
        #expect(try await other.value(for: 1) { 2 } == 2)
    }

    /// A caller that has left its flight waits for nothing, so the flight may wait for the flight of that caller.
    @Test func aFlightMayWaitForTheFlightOfACallerThatHasLeft() async throws {
        let (one, other) = (SingleFlight<Int, Int>(), SingleFlight<Int, Int>())
        let (hasLeft, isOver) = (Gate(), Gate())
        let first = Task {
            try await one.value(for: 1) {
                let leaver = Task {
                    try await other.value(for: 1) {
                        try await hasLeft.wait()
                        return try await one.value(for: 1) { 0 }
                    }
                }
                try await hasLeft.waitForWaiters()
                let stays = Task.detached { try await other.value(for: 1) { 0 } }
                try await waitForCallers(2, on: other._flights)
                leaver.cancel()
                _ = await leaver.result
                hasLeft.open()
                try await isOver.wait()
                _ = stays
                return 7
            }
        }
        try await waitForCallers(2, on: one._flights)
        isOver.open()
        #expect(try await first.value == 7)
    }

    // MARK: Turns of queues

    @Test func aFlightThatAsksForTheTurnOfACallerThatWaitsForItIsAnError() async throws {
        let queue = FIFOQueue(name: "q")
        await #expect(throws: ReentrancyError(queueName: "q")) {
            try await queue.run { try await flights.value(for: "a") { try await queue.run { 1 } } }
        }
        await #expect(throws: ReentrancyError(queueName: "q"), "through another flight") {
            try await queue.run {
                try await flights.value(for: "a") {
                    try await withSingleFlight(key: "turns") { try await queue.run { 1 } }
                }
            }
        }
        #expect(queue.isIdle && flights.count == 0)
    }

    /// The caller that began the flight from inside a turn has left: the flight works for the others, which are in no turn.
    @Test func aFlightIsNotInTheTurnOfACallerThatHasLeft() async throws {
        let (queue, begun, hasLeft, isOver) = (FIFOQueue(), Gate(), Gate(), Gate())
        let holder = Task(on: queue) {
            let first = Task {
                try await flights.value(for: "a") {
                    begun.open()
                    try await hasLeft.wait()
                    return try await queue.run { 7 }
                }
            }
            try await begun.wait()
            try await waitForCallers(2, on: flights._flights)
            first.cancel()
            _ = await first.result
            hasLeft.open()
            try await isOver.wait()
        }
        try await begun.wait()
        let other = Task { try await flights.value(for: "a") { 0 } }
        try await wait(forBooksOf: queue._turns.source.number) { 2 - queue.count }
        isOver.open()
        #expect(try await other.value == 7)
        try await holder.value
    }

    @Test func whatOutlivesItsFlightIsNotInside() async throws {
        let gate = Gate()
        let after = Locked<Task<Int, any Error>?>(nil)
        _ = try await flights.value(for: "a") {
            let task = Task {
                await gate.waitIgnoringCancellation()
                return try await flights.value(for: "a") { 2 }
            }
            after.withLock { $0 = task }
            return 1
        }
        gate.open()
        #expect(try await after.withLock { $0 }?.value == 2)
    }

    // MARK: Nothing grows

    @Test func aChainOfFlightsDoesNotGrow() async throws {
        // Each begins the next one, and ends before that does.
        let (done, most) = (Gate(), Locked(0))
        @Sendable func next(_ number: Int) {
            Task {
                _ = try await flights.value(for: "\(number)") {
                    most.withLock { $0 = max($0, _Places.heldByCaller.count) }
                    if number == 1_000 { done.open() } else { next(number + 1) }
                    return number
                }
            }
        }
        next(0)
        try await done.wait()
        #expect(most.withLock { $0 } == 1)
    }

    private final class Value: Sendable {
        private let ends: OrderRecorder<Void>

        init(_ ends: OrderRecorder<Void>) {
            self.ends = ends
        }

        deinit { ends.record(()) }
    }

    @Test func aChainOfFlightsKeepsNoneOfThoseThatAreOver() async throws {
        // Each ends when the next one has begun.
        let (flights, done, gate, ends) = (SingleFlight<Int, Value>(), Gate(), Gate(), OrderRecorder<Void>())
        @Sendable func next(_ number: Int, begun: Gate) {
            Task {
                _ = try await flights.value(for: number) {
                    begun.open()
                    if number == 100 {
                        done.open()
                        await gate.waitIgnoringCancellation()
                    } else {
                        let begun = Gate()
                        next(number + 1, begun: begun)
                        await begun.waitIgnoringCancellation()
                    }
                    return Value(ends)
                }
            }
        }
        next(0, begun: Gate())
        try await done.wait()
        try await ends.waitForEvents(count: 100)
        #expect(flights.count == 1)
        gate.open()
    }

    @Test func whatOutlivesItsFlightDoesNotKeepItsValueOrItsKey() async throws {
        struct Key: Hashable {
            let probe: DeinitProbe

            static func == (one: Key, other: Key) -> Bool { one.probe === other.probe }

            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(probe)) }
        }
        let (flights, valueEnd, keyEnd, end) = (SingleFlight<Key, DeinitProbe>(), Gate(), Gate(), Gate())
        _ = try await flights.value(for: Key(probe: DeinitProbe(keyEnd))) {
            Task { await end.waitIgnoringCancellation() }
            return DeinitProbe(valueEnd)
        }
        try await end.waitForWaiters()
        try await valueEnd.wait()
        try await keyEnd.wait()
        end.open()
    }
}

/// Runs its jobs at once: the work of a flight begins there before the flight has the handle of its task.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
@globalActor private actor HastyActor {
    static let shared = HastyActor()
    private let executor = HastyExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

extension SingleFlightTests {
    /// The operation begins before the flight has the handle of its task.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func anOperationThatCancelsItsFlightSeesItAtOnce() async throws {
        let (flights, seen) = (SingleFlight<Int, Void>(), OrderRecorder<Bool>())
        await #expect(throws: CancellationCause.requested(reason: "itself")) {
            try await flights.value(for: 1) { @HastyActor in
                seen.record(Task.isCancelled)
                flights.cancelAll(because: "itself")
                seen.record(Task.isCancelled && Task.cancellationCause == .requested(reason: "itself"))
            }
        }
        try await seen.waitForEvents(count: 2)
        #expect(seen.events == [false, true])
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aKeptFlightThatIsReleasedBeforeItHasItsTaskKnowsTheCause() async throws {
        let (gate, causes) = (Gate(), OrderRecorder<CancellationCause?>())
        let (table, key) = (flights._flights, _ErasedKey("token"))
        let cause = CancellationCause.superseded(key: "token")
        table.launch(key) { @HastyActor in
            if let id = table.innermostID { table.release(id, because: cause) }
            defer { causes.record(Task.cancellationCause) }
            return try await work(until: gate)
        }
        try await causes.waitForEvents(count: 1)
        #expect(causes.events == [cause])
    }
}
