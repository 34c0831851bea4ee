import TaskControl
import TaskControlTesting
import Testing

private struct Echo: SimulatedNetwork.Request {
    typealias Reply = String

    let text: String

    init(_ text: String) { self.text = text }
}

private struct ServerError: Error {}

/// Nodes on a clock that the test moves, or that jumps.
@Suite(.timeLimit(.minutes(15)))
struct NetworkNodeTests {
    private let clock = TestClock()
    private let heard = OrderRecorder<String>()

    private func network(_ clock: TestClock, latency: Duration = .seconds(1)) -> SimulatedNetwork {
        SimulatedNetwork(seed: 1, clock: clock, latency: latency...latency)
    }

    private func echo(_ process: SimulatedNetwork.Process) {
        process.handle(Echo.self) { request in
            heard.record(request.text)
            return "\(request.text) by \(process.name) #\(process.incarnation)"
        }
    }

    // MARK: Messages

    @Test func aRequestAndItsReplyTravelBetweenNodes() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a", echo)
        let answered = Gate()
        network.addNode("b") { process in
            process.addTask {
                let reply = try await process.send(Echo("hello"), to: "a")
                #expect(reply == "hello by a #1")
                #expect(process.clock.now.offset == .seconds(2))
                answered.open()
            }
        }
        try await network.run { try await answered.wait() }
        #expect(network.counts.sent == 1 && network.counts.delivered == 1 && network.counts.answered == 1)
    }

    @Test func theDirectionsOfALinkHaveLatenciesOfTheirOwn() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a", echo)
        network.addNode("b") { process in
            process.addTask {
                _ = try await process.send(Echo("hello"), to: "a")
                #expect(process.clock.now.offset == .seconds(12))
                heard.record("reply")
            }
        }
        network.setLink(from: "a", to: "b", latency: .seconds(10) ... .seconds(10))
        network.setLink(from: "b", to: "a", latency: .seconds(2) ... .seconds(2))
        try await network.run { try await heard.waitForEvents(count: 2) }
    }

    @Test func aLinkMayBeSlowedByAnyFactor() async throws {
        let network = network(clock)
        network.addNode("a", echo)
        network.addNode("b") { process in process.addTask { _ = try await process.send(Echo("late"), to: "a") } }
        network.slow(from: "b", to: "a", by: 1e300)
        try await network.run {
            try await clock.waitForSleepers(count: 1)
            await clock.advance(by: .seconds(1_000_000))
            #expect(clock.sleeperCount == 1)
        }
    }

    @Test func messagesOvertakeEachOther() async throws {
        let network = network(clock)
        network.addNode("a", echo)
        network.addNode("slow") { process in process.addTask { _ = try await process.send(Echo("first"), to: "a") } }
        network.addNode("quick") { process in process.addTask { _ = try await process.send(Echo("second"), to: "a") } }
        network.slow(from: "slow", to: "a", by: 5)
        try await network.run {
            try await clock.waitForSleepers(count: 2)
            await clock.advance(by: .seconds(1))
            try await heard.waitForEvents(count: 1)
            await clock.advance(by: .seconds(4))
            try await heard.waitForEvents(count: 2)
        }
        try heard.checkOrder(["second", "first"])
    }

    @Test func whatAHandlerThrowsReachesTheSender() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a") { process in process.handle(Echo.self) { _ in throw ServerError() } }
        await #expect(throws: ServerError.self) {
            try await network.run { _ = try await network.send(Echo("hello"), to: "a") }
        }
        #expect(network.counts.answered == 1)
    }

    @Test func aRequestWithoutHandlerIsAnsweredWithAnError() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a") { _ in }
        let error = await #expect(throws: SimulatedNetwork.NoHandlerError.self) {
            try await network.run { _ = try await network.send(Echo("hello"), to: "a") }
        }
        #expect(error?.description.contains("The node “a” has no handler for Echo") == true)
    }

    @Test func aRequestArrivesAlthoughItsSenderHasGivenUp() async throws {
        let network = network(clock)
        network.addNode("a", echo)
        try await network.run {
            let sender = Task { try await network.send(Echo("hello"), to: "a") }
            try await clock.waitForSleepers()
            sender.cancel()
            await #expect(throws: CancellationError.self) { try await sender.value }
            await clock.advance(by: .seconds(1))
            try await network.drain()
            try heard.checkOrder(["hello"])
        }
    }

    @Test func aDuplicateIsHandledSecond() async throws {
        let network = SimulatedNetwork(
            seed: 1,
            clock: TestClock(advancesAutomatically: true),
            faults: .init(duplicates: 1)
        )
        network.addNode("a", echo)
        try await network.run {
            _ = try await network.send(Echo("hello"), to: "a")
            try await network.drain()
        }
        #expect(heard.count == 2 && network.counts.duplicated == 1 && network.counts.answered == 1)
    }

    @Test func lossesAndErrorsAreThoseOfTheLink() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a", echo)
        let (toA, toB) = (OrderRecorder<Bool>(), OrderRecorder<Bool>())
        network.addNode("b") { process in
            echo(process)
            process.addTask { toA.record((try? await process.send(Echo("to a"), to: "a")) != nil) }
        }
        network.addNode("c") { process in
            process.addTask { toB.record((try? await process.send(Echo("to b"), to: "b")) != nil) }
        }
        network.setLink(from: "b", to: "a", faults: .init(errors: 1))
        try await network.run {
            try await toA.waitForEvents(count: 1)
            try await toB.waitForEvents(count: 1)
        }
        #expect(toA.events == [false] && toB.events == [true] && network.counts.failed == 1)
    }

    // MARK: Partitions

    @Test func whatIsInFlightWhenAPartitionBeginsIsLost() async throws {
        let network = network(clock)
        network.addNode("a", echo)
        network.addNode("b") { process in
            process.addTask { _ = try await process.send(Echo("hello"), to: "a") }
        }
        try await network.run {
            try await clock.waitForSleepers()
            network.partition(["a"])
            await clock.advance(by: .seconds(1))
            try await network.drain()
            network.heal()
        }
        #expect(heard.count == 0 && network.counts.lost == 1)
        #expect(
            network.events.map(\.kind.description) == [
                "start: a #1", "start: b #1", "partition: {a} | {b}", "lost: Echo from b to a, or its reply", "heal",
            ]
        )
    }

    @Test func whatWasSentInAPartitionArrivesAfterIt() async throws {
        let network = network(clock)
        network.addNode("a", echo)
        network.addNode("b") { process in
            process.addTask { _ = try await process.send(Echo("hello"), to: "a") }
        }
        network.partition(["a"], ["b"])
        try await network.run {
            try await clock.waitForSleepers()
            network.heal()
            await clock.advance(by: .seconds(1))
            try await heard.waitForEvents(count: 1)
        }
    }

    @Test func aBlockedDirectionLosesRepliesOfRequestsThatAreHandled() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a", echo)
        let isAnswered = Gate()
        network.addNode("b") { process in
            process.addTask {
                _ = try await process.send(Echo("hello"), to: "a")
                isAnswered.open()
            }
        }
        network.block(from: "a", to: "b")
        try await network.run {
            try await heard.waitForEvents(count: 1)
            try await network.drain()
        }
        #expect(!isAnswered.isOpen && network.counts.delivered == 1 && network.counts.lost == 1)
    }

    @Test func noPartitionSeparatesAClientWithoutAName() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        network.addNode("a", echo)
        network.addNode("b", echo)
        network.partition(["a"], ["b"])
        try await network.run {
            for node in ["a", "b"] {
                let reply = try await network.send(Echo("hello"), to: node)
                #expect(reply == "hello by \(node) #1")
            }
        }
    }

    // MARK: The run

    @Test func whenTheRunReturnsItsTasksHaveEndedAndNoNodeStartsAgain() async throws {
        let network = network(clock)
        let (waits, ended) = (Gate(), OrderRecorder<Bool>())
        let node = network.addNode("a") { process in
            process.addTask {
                do { try await waits.wait() } catch { ended.record(Task.isCancelled) }
            }
        }
        try await network.run { try await waits.waitForWaiters() }
        #expect(ended.events == [true] && !node.isRunning)
        node.restart()
        #expect(!node.isRunning && node.incarnation == 1)
    }

    @Test func aNodeThatIsAddedDuringTheRunStartsAtOnce() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        try await network.run {
            let node = network.addNode("a", echo)
            #expect(node.isRunning)
            let reply = try await network.send(Echo("hello"), to: "a")
            #expect(reply == "hello by a #1")
        }
    }

    @Test func oneSeedGivesTheSameRun() async throws {
        func run() async throws -> ([Double], SimulatedNetwork.Counts) {
            let network = SimulatedNetwork(
                seed: 4,
                clock: TestClock(advancesAutomatically: true),
                latency: .milliseconds(1) ... .milliseconds(9),
                faults: .init(errors: 0.3, duplicates: 0.3),
                clockRates: 0.5...2
            )
            let nodes = ["a", "b", "c"].map { network.addNode($0, echo) }
            try await network.run {
                for number in 0..<30 { _ = try? await network.send(Echo("\(number)"), to: "a") }
                try await network.drain()
            }
            return (nodes.map(\.clockRate), network.counts)
        }
        let (one, other) = (try await run(), try await run())
        #expect(one == other && one.1.failed > 0 && one.1.duplicated > 0)
        #expect(Set(one.0).count == 3 && one.0.allSatisfy { (0.5...2).contains($0) })
    }
}
