import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The promises of flights, tested with both forms where both have them.
@Suite(.timeLimit(.minutes(15)))
struct SingleFlightTests {
    let flights = SingleFlight<String, Int>()
    private let runs = OrderRecorder<Int>()

    /// Waits until the given number of callers are on the flights of an engine.
    func waitForCallers(_ count: Int, on flights: _FlightTable) async throws {
        try await wait(forBooksOf: flights.source.number) { count - flights.callerCount }
    }

    // MARK: One run

    @Test(.tags(.large)) func thousandsOfCallersGiveOneRun() async throws {
        let (gate, count) = (Gate(), fullSize(10_000, inDebug: 2_000))
        let callers = (0..<count).map { _ in
            Task {
                try await flights.value(for: "token") {
                    runs.record(1)
                    try await gate.wait()
                    return 42
                }
            }
        }
        try await waitForCallers(count, on: flights._flights)
        #expect(flights.count == 1)
        for (index, caller) in callers.enumerated() where index.isMultiple(of: 2) { caller.cancel() }
        for (index, caller) in callers.enumerated() where index.isMultiple(of: 2) {
            await #expect(throws: CancellationError.self) { try await caller.value }
        }
        #expect(flights.count == 1, "the others keep it")
        gate.open()
        for (index, caller) in callers.enumerated() where !index.isMultiple(of: 2) {
            #expect(try await caller.value == 42)
        }
        #expect(runs.count == 1)
        #expect(flights.count == 0)
    }

    @Test func everybodyGetsTheSameErrorAndItIsNotKept() async throws {
        let gate = Gate()
        let callers = (0..<5).map { _ in
            Task {
                try await flights.value(for: "token") {
                    runs.record(1)
                    try await gate.wait()
                    throw MarkedError()
                }
            }
        }
        try await waitForCallers(5, on: flights._flights)
        gate.open()
        var errors: Set<MarkedError> = []
        for caller in callers {
            let error = await #expect(throws: MarkedError.self) { try await caller.value }
            if let error { errors.insert(error) }
        }
        #expect(errors.count == 1)
        #expect(try await flights.value(for: "token") { 7 } == 7, "who comes after the end begins anew")
    }

    @Test func keysAreApart() async throws {
        async let one = flights.value(for: "a") { 1 }
        async let other = flights.value(for: "b") { 2 }
        #expect(try await (one, other) == (1, 2))
    }

    @Test func keysOfTheProcessAreApartByTypeAndByValue() async throws {
        let gate = Gate()
        async let int = withSingleFlight(key: 1) { () async throws -> String in
            try await gate.wait()
            return "Int"
        }
        async let double = withSingleFlight(key: 1.0) { () async throws -> String in
            try await gate.wait()
            return "Double"
        }
        async let value = withSingleFlight(key: 1) { () async throws -> Int in
            try await gate.wait()
            return 1
        }
        try await gate.waitForWaiters(count: 3)
        #expect(SingleFlightRegistry.shared.inFlightCount() >= 3)
        gate.open()
        #expect(try await (int, double, value) == ("Int", "Double", 1))
    }

    // MARK: Leaving

    @Test func theFirstCallerCanLeave() async throws {
        let gate = Gate()
        let first = Task { try await flights.value(for: "token") { try await self.work(until: gate) } }
        try await gate.waitForWaiters()
        let second = Task { try await flights.value(for: "token") { 0 } }
        try await waitForCallers(2, on: flights._flights)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.open()
        #expect(try await second.value == 42, "the work goes on")
    }

    @Test func theLastCallerTakesTheWorkAlong() async throws {
        let (gate, ended) = (Gate(), Gate())
        let callers = (0..<3).map { _ in
            Task {
                try await flights.value(for: "token") {
                    defer { ended.open() }
                    return try await self.work(until: gate)
                }
            }
        }
        try await waitForCallers(3, on: flights._flights)
        try await gate.waitForWaiters()
        callers[0].cancel()
        callers[1].cancel()
        _ = await (callers[0].result, callers[1].result)
        #expect(!ended.isOpen && flights.count == 1)
        callers[2].cancel()
        await #expect(throws: CancellationError.self) { try await callers[2].value }
        try await ended.wait()
        #expect(flights.count == 0)
    }

    @Test func nobodyJoinsADyingFlight() async throws {
        let (gate, deaf) = (Gate(), Gate())
        let first = Task {
            try await flights.value(for: "token") {
                gate.open()
                await deaf.waitIgnoringCancellation()
                return 1
            }
        }
        try await gate.wait()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(flights.count == 0, "cancelled is not counted, although it still runs")
        let inside = Gate()
        let second = Task {
            try await flights.value(for: "token") {
                try await inside.wait()
                return 2
            }
        }
        try await inside.waitForWaiters()
        deaf.open()
        try await wait(forBooksOf: flights._flights.source.number) { flights._flights.liveCount - 1 }
        let third = Task { try await flights.value(for: "token") { 3 } }
        try await waitForCallers(2, on: flights._flights)
        inside.open()
        #expect(try await second.value == 2)
        #expect(try await third.value == 2, "the old flight's end did not take the new one out of the books")
    }

    @Test func whoIsCancelledBeforehandBeginsNothing() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await flights.value(for: "token") {
                runs.record(1)
                return 1
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(runs.count == 0 && flights.count == 0)
    }

    @Test func whoIsCancelledBeforehandBeginsNothingThatWouldRunToItsEnd() async throws {
        let flights = SingleFlight<String, Int>(whenAbandoned: .finish)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await flights.value(for: "cache") {
                runs.record(1)
                return 1
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(runs.count == 0 && flights._flights.liveCount == 0)
    }

    /// The caller's actor is busy here from the end of the flight until the caller is cancelled: the caller has not received its result yet.
    @Test(arguments: [false, true]) @MainActor
    func aCallerThatIsCancelledWhenItsFlightHasEnded(fails: Bool) async throws {
        let gate = Gate()
        let caller = Task { @MainActor in
            try await flights.value(for: "token") { @concurrent in
                await gate.waitIgnoringCancellation()
                if fails { throw MarkedError() }
                return 42
            }
        }
        try await gate.waitForWaiters()
        gate.open()
        blockThread { flights._flights.liveCount == 0 }
        caller.cancel()
        if fails {
            await #expect(throws: CancellationError.self, "one cancellation error") { try await caller.value }
        } else {
            #expect(try await caller.value == 42, "in a tie the result counts")
        }
    }

    @Test func anErrorOfTheWorkReachesACancelledCallerAsItsCancellation() async throws {
        let gate = Gate()
        let caller = Task {
            try await flights.value(for: "token") {
                await gate.waitIgnoringCancellation()
                throw MarkedError()
            }
        }
        try await gate.waitForWaiters()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        gate.open()
    }

    @Test func aCancellationErrorOfTheWorkIsAnErrorLikeOthers() async throws {
        await #expect(throws: CancellationError.self) {
            try await flights.value(for: "token") { throw CancellationError() }
        }
        #expect(!Task.isCancelled)
    }

    @Test func workThatIsWorthItsEndRunsToIt() async throws {
        let flights = SingleFlight<String, Int>(whenAbandoned: .finish)
        let gate = Gate()
        let first = Task { try await flights.value(for: "cache") { try await self.work(until: gate) } }
        try await gate.waitForWaiters()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(flights.count == 1)
        let second = Task { try await flights.value(for: "cache") { 0 } }
        try await waitForCallers(1, on: flights._flights)
        gate.open()
        #expect(try await second.value == 42, "it was joined")
    }

    @Test func anErrorThatNobodyIsThereToReceiveIsReported() async throws {
        let flights = SingleFlight<String, Int>(whenAbandoned: .finish)
        let (gate, error) = (Gate(), MarkedError())
        let first = Task(name: "first") {
            try await flights.value(for: "cache") {
                await gate.waitIgnoringCancellation()
                throw error
            }
        }
        try await gate.waitForWaiters()
        first.cancel()
        _ = await first.result
        gate.open()
        try await Incidents.shared.wait { !$0.unhandled(error).isEmpty }
        #expect(Incidents.shared.unhandled(error) == [readable("first")], "once, by the name of the first caller")
    }

    // MARK: Forgetting

    @Test func whatIsForgottenIsKeptByThoseWhoAreOnIt() async throws {
        let (old, new) = (Gate(), Gate())
        let first = Task {
            try await flights.value(for: "config") {
                try await old.wait()
                return 1
            }
        }
        try await old.waitForWaiters()
        flights.forget("config")
        flights.forget("config")
        let second = Task {
            try await flights.value(for: "config") {
                try await new.wait()
                return 2
            }
        }
        try await new.waitForWaiters()
        #expect(flights.count == 2)
        old.open()
        #expect(try await first.value == 1)
        let third = Task { try await flights.value(for: "config") { 3 } }
        try await waitForCallers(2, on: flights._flights)
        new.open()
        #expect(try await (second.value, third.value) == (2, 2))
    }

    @Test func cancelAllLetsEverybodyGo() async throws {
        for behavior in [AbandonedFlightBehavior.cancel, .finish] {
            let flights = SingleFlight<String, Int>(whenAbandoned: behavior)
            let (gate, cancelled) = (Gate(), Gate())
            let callers = (0..<4).map { number in
                Task {
                    try await flights.value(for: "\(number % 2)") {
                        await withTaskCancellationHandler {
                            await gate.waitIgnoringCancellation()
                            return 1
                        } onCancel: {
                            cancelled.open()
                        }
                    }
                }
            }
            try await waitForCallers(4, on: flights._flights)
            try await gate.waitForWaiters(count: 2)
            flights.cancelAll()
            for caller in callers { await #expect(throws: CancellationCause.self) { try await caller.value } }
            #expect(flights.count == 0 && cancelled.isOpen)
            #expect(try await flights.value(for: "0") { 2 } == 2, "it can be used again")
            gate.open()
        }
    }

    /// Runs what comes at once, where it comes: a flight's work begins there before the flight has the handle of its task.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Hasty {
        private let executor = HastyExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aFlightThatIsCancelledBeforeItHasItsTaskCancelsIt() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        let caller = Task {
            try await ask(on: Hasty()) {
                flights.cancelAll()
                return try await withTaskCancellationHandler {
                    try await self.work(until: gate)
                } onCancel: {
                    cancelled.open()
                }
            }
        }
        try await cancelled.wait()
        await #expect(throws: CancellationCause.self) { try await caller.value }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aFlightThatIsCancelledBeforeItHasItsTaskKnowsTheCause() async throws {
        let (gate, causes) = (Gate(), OrderRecorder<CancellationCause?>())
        let caller = Task {
            try await ask(on: Hasty()) {
                flights.cancelAll(because: "signed out")
                defer { causes.record(Task.cancellationCause) }
                return try await self.work(until: gate)
            }
        }
        try await causes.waitForEvents(count: 1)
        #expect(causes.events == [.requested(reason: "signed out")])
        await #expect(throws: CancellationCause.self) { try await caller.value }
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func aFlightThatIsRaisedBeforeTheCallThatBeganItContinuesRaisesItsTask() async throws {
        let joined = Gate()
        let caller = Task(priority: .low) {
            try await ask(on: Hasty()) {
                // Without the task-locals: it is not inside.
                let joiner = Task.detached(priority: .high) { try await flights.value(for: "token") { 0 } }
                for _ in 0..<200 where flights._flights.callerCount < 2 { usleep(1_000) }
                try await joined.wait()
                await untilRaised(to: .high)
                _ = joiner
                return 42
            }
        }
        try await waitForCallers(2, on: flights._flights)
        joined.open()
        #expect(try await caller.value == 42)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private func ask(on hasty: isolated Hasty, _ body: @escaping @Sendable () async throws -> Int) async throws -> Int {
        try await flights.value(for: "token") {
            _ = hasty
            return try await body()
        }
    }

    // MARK: -

    func work(until gate: Gate) async throws -> Int {
        try await gate.wait()
        return 42
    }
}
