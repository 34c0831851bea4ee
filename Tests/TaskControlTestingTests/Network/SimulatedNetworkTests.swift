import TestSupport
import Testing

@testable import TaskControlTesting

private struct ServerError: Error {}

@Suite(.timeLimit(.minutes(15)))
struct SimulatedNetworkTests {
    private typealias Faults = SimulatedNetwork.Faults

    private let served = OrderRecorder<Int>()

    private func network(_ faults: Faults, seed: UInt64 = 1) -> SimulatedNetwork {
        SimulatedNetwork(
            seed: seed,
            clock: TestClock(advancesAutomatically: true),
            latency: .milliseconds(1) ... .milliseconds(9),
            faults: faults
        )
    }

    private func double(_ number: Int) async throws -> Int {
        served.record(number)
        return 2 * number
    }

    // MARK: What goes right

    @Test func aRequestAndItsReplyTakeALatencyEach() async throws {
        let clock = TestClock(advancesAutomatically: true)
        let network = SimulatedNetwork(seed: 1, clock: clock, latency: .milliseconds(5) ... .milliseconds(5))
        let arrival = try await network.send(()) { _ in clock.now.offset }
        #expect(arrival == .milliseconds(5))
        #expect(clock.now.offset == .milliseconds(10))
    }

    /// No test moves the clock: a sleep would not end.
    @Test func withoutLatencyNobodySleeps() async throws {
        let network = SimulatedNetwork(seed: 1, clock: TestClock())
        #expect(try await network.send(2, to: double) == 4)
        #expect(network.counts == counts(sent: 1, delivered: 1, answered: 1))
    }

    @Test func whatTheServerThrowsIsAnAnswer() async {
        let network = network(.none)
        await #expect(throws: ServerError.self) { try await network.send(1) { _ in throw ServerError() } }
        #expect(network.counts == counts(sent: 1, delivered: 1, answered: 1))
    }

    // MARK: What goes wrong

    @Test func aLostRequestDoesNotReachTheServerAndItsCallerWaitsUntilCancelled() async throws {
        let network = network(Faults(errors: 1, lostRequests: 1, lostReplies: 1, duplicates: 1))
        let task = Task { try await network.send(1, to: double) }
        try await network.neverAnswered.waitForWaiters()
        #expect(network.counts == counts(sent: 1, lost: 1))
        try await network.drain()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(served.count == 0)
    }

    @Test(arguments: [false, true])
    func aLostReplyIsOfAServerThatRanAndItsCallerWaitsUntilCancelled(fails: Bool) async throws {
        let network = network(Faults(lostReplies: 1))
        let task = Task {
            try await network.send(1) { number in
                if fails { throw ServerError() }
                return try await double(number)
            }
        }
        try await network.neverAnswered.waitForWaiters()
        #expect(network.counts == counts(sent: 1, delivered: 1, lost: 1))
        try await network.drain()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func anErrorComesBeforeOrAfterTheServerRan() async {
        let network = network(Faults(errors: 1))
        for number in 0..<50 {
            await #expect(throws: SimulatedNetwork.ConnectionLostError.self) {
                try await network.send(number, to: double)
            }
        }
        let counts = network.counts
        #expect(counts.failed == 50 && counts.delivered == served.count)
        #expect((10...40).contains(served.count), "about half of them")
    }

    @Test func aDuplicateComesSecondAndTheCallerHearsOfTheFirst() async throws {
        let clock = TestClock()
        let latency = Duration.seconds(1)
        let network = SimulatedNetwork(
            seed: 1,
            clock: clock,
            latency: latency...latency,
            faults: Faults(duplicates: 1)
        )
        let calls = OrderRecorder<Int>()
        let answer = Task {
            try await network.send("a") { _ in
                let number = calls.count + 1
                calls.record(number)
                return number
            }
        }
        await clock.advance(by: latency, waking: 1)
        try await calls.waitForEvents(count: 1)
        await clock.run(waking: 2)
        #expect(try await answer.value == 1)
        try await network.drain()
        #expect(calls.count == 2)
        #expect(network.counts == counts(sent: 1, delivered: 2, answered: 1, duplicated: 1))
    }

    @Test func aDuplicateDoesNotEndWithItsCaller() async throws {
        let network = network(Faults(duplicates: 1))
        let (arrived, gate) = (Gate(), Gate())
        let task = Task {
            try await network.send(1) { number in
                arrived.open()
                try await gate.wait()
                return try await double(number)
            }
        }
        try await arrived.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await gate.waitForWaiters()
        let drained = Task { try await network.drain() }
        #expect(served.count == 0)
        gate.open()
        try await drained.value
        try served.checkOrder([1])
    }

    // MARK: Cancellation

    @Test func aCallerThatIsCancelledOnItsWayDoesNotReachTheServer() async throws {
        let clock = TestClock()
        let network = SimulatedNetwork(seed: 1, clock: clock, latency: .seconds(1) ... .seconds(1))
        let task = Task { try await network.send(1, to: double) }
        try await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await clock.advance(by: .seconds(5))
        try await network.drain()
        #expect(network.counts == counts(sent: 1))
        #expect(served.count == 0)
    }

    @Test func aCallerThatWasCancelledBeforeDoesNotReachTheServer() async {
        let network = SimulatedNetwork(seed: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await network.send(1, to: double)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(served.count == 0)
    }

    @Test func whoDrainsWaitsForTheServer() async throws {
        let network = network(.none)
        let gate = Gate()
        let task = Task { try await network.send(()) { try await gate.wait() } }
        try await gate.waitForWaiters()
        let draining = Task { try await network.drain() }
        try await network.rest.wait(forWaiters: 1)
        gate.open()
        try await draining.value
        try await task.value
    }

    @Test func whoDrainsLeavesWhenCancelled() async throws {
        let network = network(.none)
        let gate = Gate()
        let task = Task { try await network.send(()) { try await gate.wait() } }
        try await gate.waitForWaiters()
        let draining = Task { try await network.drain() }
        draining.cancel()
        await #expect(throws: CancellationError.self) { try await draining.value }
        gate.open()
        try await task.value
        try await network.drain()
    }

    // MARK: Seeds

    private func sequence(seed: UInt64, _ faults: Faults) -> [NetworkDice.Throw] {
        var dice = NetworkDice(seed: seed)
        let link = NetworkDice.Link(latency: .zero ... .seconds(1), faults: faults)
        return (0..<200).map { _ in dice.next(there: link, back: link) }
    }

    @Test func oneSeedGivesOneSequence() {
        let faults = Faults(errors: 0.2, lostRequests: 0.2, lostReplies: 0.2, duplicates: 0.2)
        #expect(sequence(seed: 5, faults) == sequence(seed: 5, faults))
        #expect(sequence(seed: 5, faults) != sequence(seed: 6, faults))
    }

    @Test(arguments: [
        SimulatedNetwork.Faults(errors: 0.5), .init(lostRequests: 0.5), .init(lostReplies: 0.5), .init(duplicates: 0.5),
    ])
    func aProbabilityChangesNothingElseOfTheSequence(faults: SimulatedNetwork.Faults) {
        let (one, other) = (sequence(seed: 5, .none), sequence(seed: 5, faults))
        #expect(one.map(\.request) == other.map(\.request) && one.map(\.reply) == other.map(\.reply))
        let faulty = other.filter { $0.fault != nil || $0.duplicate != nil }
        #expect((50...150).contains(faulty.count))
    }

    @Test func latenciesAreOfTheWholeRangeAndProbabilitiesAreKept() {
        let thrown = sequence(seed: 5, Faults(errors: 0.25))
        #expect(thrown.allSatisfy { (.zero ... .seconds(1)).contains($0.request) })
        #expect(thrown.contains { $0.reply < .milliseconds(100) } && thrown.contains { $0.reply > .milliseconds(900) })
        #expect((25...75).contains(thrown.filter { $0.fault != nil }.count))
    }

    @Test func requestsInOneOrderHaveTheSameFates() async throws {
        func run() async -> [String] {
            let network = network(Faults(errors: 0.3, duplicates: 0.3), seed: 9)
            var fates: [String] = []
            for number in 0..<50 {
                do { fates.append("\(try await network.send(number, to: double))") } catch { fates.append("\(error)") }
            }
            return fates
        }
        let (one, other) = (await run(), await run())
        #expect(one == other && Set(one).count > 20)
    }

    // MARK: Traps

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func whatIsNoProbabilityTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = SimulatedNetwork.Faults(lostReplies: 1.5)
        }
        #expect(text(result).contains("Faults(lostReplies: 1.5): a probability is from 0 (never) to 1 (always)"))
    }

    @Test(.oneProcessAtATime) func aNegativeLatencyTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = SimulatedNetwork(seed: 1, latency: .seconds(-1) ... .seconds(1))
        }
        #expect(text(result).contains("Begin at zero or later"))
    }
    #endif

    // MARK: -

    private func counts(
        sent: Int,
        delivered: Int = 0,
        answered: Int = 0,
        lost: Int = 0,
        duplicated: Int = 0
    ) -> SimulatedNetwork.Counts {
        var counts = SimulatedNetwork.Counts()
        (counts.sent, counts.delivered, counts.answered) = (sent, delivered, answered)
        (counts.lost, counts.duplicated) = (lost, duplicated)
        return counts
    }
}
