import TaskControl
import TaskControlTesting
import TestSupport
import Testing

private struct Ask: SimulatedNetwork.Request { typealias Reply = Int }

/// Crashes, pauses and clocks.
@Suite(.timeLimit(.minutes(15)))
struct NetworkFailureTests {
    private let clock = TestClock()
    private let heard = OrderRecorder<String>()

    private func network(_ clock: TestClock? = nil, latency: Duration = .seconds(1)) -> SimulatedNetwork {
        SimulatedNetwork(seed: 1, clock: clock ?? self.clock, latency: latency...latency)
    }

    /// A node whose processes are recorded: tests use those that have crashed.
    private func addIdle(_ network: SimulatedNetwork) -> (
        SimulatedNetwork.Node, OrderRecorder<SimulatedNetwork.Process>
    ) {
        let processes = OrderRecorder<SimulatedNetwork.Process>()
        return (network.addNode("idle") { processes.record($0) }, processes)
    }

    // MARK: Crashes

    @Test func aCrashCancelsTheTasksAndARestartRunsTheStartupAgain() async throws {
        let (network, waits) = (network(), Gate())
        let node = network.addNode("a") { process in
            process.addTask {
                do { try await waits.wait() } catch { heard.record("\(process.incarnation): \(Task.isCancelled)") }
            }
        }
        try await network.run {
            try await waits.waitForWaiters()
            node.crash()
            #expect(!node.isRunning)
            try await heard.waitForEvents(count: 1)
            node.restart()
            #expect(node.isRunning && node.incarnation == 2)
            try await waits.waitForWaiters()
            node.restart()
            #expect(node.incarnation == 3)
            try await heard.waitForEvents(count: 2)
        }
        #expect(heard.events.starts(with: ["1: true", "2: true"]))
        let kinds = network.events.map(\.kind.description)
        #expect(kinds == ["start: a #1", "crash: a #1", "start: a #2", "crash: a #2", "start: a #3"])
    }

    @Test func aRequestToANodeThatIsDownIsLost() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        let node = network.addNode("a") { process in process.handle(Ask.self) { _ in process.incarnation } }
        try await network.run {
            node.crash()
            let sender = Task { try await network.send(Ask(), to: "a") }
            try await network.drain()
            // It may not have sent yet: then it reaches the node that runs.
            sender.cancel()
            _ = await sender.result
            node.restart()
            #expect(try await network.send(Ask(), to: "a") == 2)
        }
    }

    @Test func theReplyOfAServerThatHasCrashedIsLost() async throws {
        let network = network(latency: .zero)
        let (handles, done) = (Gate(), Gate())
        let node = network.addNode("a") { process in
            process.handle(Ask.self) { _ in
                await handles.waitIgnoringCancellation()
                done.open()
                return 1
            }
        }
        try await network.run {
            let sender = Task { try await network.send(Ask(), to: "a") }
            try await handles.waitForWaiters()
            node.crash()
            handles.open()
            try await done.wait()
            try await network.drain()
            #expect(network.counts.answered == 0 && network.counts.delivered == 1)
            sender.cancel()
            await #expect(throws: CancellationError.self) { try await sender.value }
        }
        #expect(network.counts.lost == 1 && network.counts.answered == 0)
    }

    @Test func whatAProcessHadSentEndsWithItsCrashInTasksOfOthersToo() async throws {
        let network = network()
        let (node, processes) = addIdle(network)
        network.addNode("a") { process in process.handle(Ask.self) { _ in 1 } }
        try await network.run {
            let process = processes.events[0]
            let sender = Task { try await process.send(Ask(), to: "a") }
            try await clock.waitForSleepers()
            node.crash()
            await #expect(throws: CancellationError.self) { try await sender.value }
            // It had left, and is handled; the reply reaches no process, not even the next one.
            node.restart()
            await clock.advance(by: .seconds(1))
            try await network.drain()
            await clock.advance(by: .seconds(1), waking: 1)
            #expect(network.counts.delivered == 1 && network.counts.answered == 0)
        }
    }

    @Test func aProcessThatHasCrashedHasNoEffect() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        let (node, processes) = addIdle(network)
        try await network.run {
            let process = processes.events[0]
            #expect(process.isRunning)
            node.restart()
            #expect(!process.isRunning && processes.events[1].isRunning)
            process.disk.write(1, for: "x")
            process.addTask { heard.record("a task") }
            process.handle(Ask.self) { _ in 1 }
            #expect(node.disk.keys == [])
            await #expect(throws: CancellationError.self) { try await process.send(Ask(), to: "idle") }
            await #expect(throws: CancellationError.self) { try await process.clock.sleep(for: .seconds(1)) }
            await #expect(throws: CancellationError.self) { try await process.disk.sync() }
            await #expect(throws: SimulatedNetwork.NoHandlerError.self) { try await network.send(Ask(), to: "idle") }
        }
        #expect(heard.count == 0 && network.counts.sent == 1)
    }

    @Test func theDiskSurvives() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        let node = network.addNode("a") { process in
            process.disk.write((process.disk.read("starts") ?? 0) + 1, for: "starts")
        }
        try await network.run {
            node.restart()
            node.restart()
        }
        #expect(node.disk.read("starts") == 3)
    }

    @Test func unsyncedWritesAreLostOrKept() async throws {
        let network = network(TestClock(advancesAutomatically: true))
        let node = network.addNode("a", losesUnsyncedWrites: true) { _ in }
        try await network.run {
            for number in 0..<10 { node.disk.write(number, for: "synced \(number)") }
            try await node.disk.sync()
            for number in 0..<50 { node.disk.write(number, for: "unsynced \(number)") }
            #expect(node.disk.keys.count == 60)
            node.restart()
        }
        let kept = node.disk.keys
        #expect(kept.count { $0.hasPrefix("synced") } == 10)
        #expect((10...40).contains(kept.count { $0.hasPrefix("unsynced") }))
    }

    // MARK: Pauses

    @Test func aPausedNodeHandlesNothingUntilItResumes() async throws {
        let network = network(latency: .zero)
        let node = network.addNode("a") { process in
            process.handle(Ask.self) { _ in
                heard.record("handled")
                return 1
            }
        }
        try await network.run {
            node.pause()
            #expect(node.isPaused && node.isRunning)
            let sender = Task { try await network.send(Ask(), to: "a") }
            let draining = Task { try await network.drain() }
            node.pause()
            heard.record("resume")
            node.resume()
            #expect(try await sender.value == 1)
            try await draining.value
        }
        try heard.checkOrder(["resume", "handled"])
        #expect(network.events.map(\.kind.description) == ["start: a #1", "pause: a", "resume: a"])
    }

    @Test func sleepsAndRequestsOfAPausedNodeAreHeldAndItsClockGoesOn() async throws {
        let network = network()
        let node = network.addNode("a") { process in
            process.addTask {
                try await process.clock.sleep(for: .seconds(10))
                heard.record("\(process.clock.now)")
            }
        }
        try await network.run {
            try await clock.waitForSleepers()
            node.pause()
            await clock.advance(by: .seconds(30))
            #expect(node.clock.now.offset == .seconds(30) && heard.count == 0)
            node.resume()
            try await heard.waitForEvents(count: 1)
        }
        try heard.checkOrder(["30.0 seconds"])
    }

    @Test func aReplyToAPausedNodeIsHeld() async throws {
        let network = network()
        network.addNode("server") { process in process.handle(Ask.self) { _ in 1 } }
        let node = network.addNode("a") { process in
            process.addTask {
                _ = try await process.send(Ask(), to: "server")
                heard.record("reply")
            }
        }
        try await network.run {
            try await clock.waitForSleepers()
            node.pause()
            await clock.advance(by: .seconds(1))
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(1))
            #expect(heard.count == 0)
            heard.record("resume")
            node.resume()
            try await heard.waitForEvents(count: 2)
        }
        try heard.checkOrder(["resume", "reply"])
    }

    @Test func aCrashEndsAPause() async throws {
        let network = network(latency: .zero)
        let (node, processes) = addIdle(network)
        try await network.run {
            node.pause()
            let sleeper = Task { try await processes.events[0].clock.sleep(for: .seconds(1)) }
            node.restart()
            #expect(!node.isPaused)
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    // MARK: Clocks

    @Test func aClockDriftsAtItsRate() async throws {
        let network = network()
        let (node, processes) = addIdle(network)
        node.clockRate = 2
        try await network.run {
            let fast = processes.events[0].clock
            let sleeper = Task {
                try await fast.sleep(for: .seconds(10))
                heard.record("awake")
            }
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(5))
            #expect(heard.count == 0)
            // Late by the nanosecond that a clock may round down.
            await clock.advance(by: .nanoseconds(1))
            try await sleeper.value
            #expect(node.clock.now == fast.now)
            #expect((.seconds(10) ... .seconds(10) + .nanoseconds(9)).contains(fast.now.offset))
        }
    }

    @Test func aSleepFollowsJumpsOfTheClock() async throws {
        let network = network()
        let (node, processes) = addIdle(network)
        try await network.run {
            let process = processes.events[0]
            func sleeper(_ name: String) -> Task<Void, any Error> {
                Task {
                    try await process.clock.sleep(until: .init(offset: .seconds(10)))
                    heard.record("\(name) at \(clock.now)")
                }
            }
            let late = sleeper("late")
            try await clock.waitForSleepers()
            node.jumpClock(by: .seconds(-5))
            await clock.advance(by: .seconds(12))
            #expect(heard.count == 0)
            node.jumpClock(by: .seconds(100))
            try await late.value
        }
        try heard.checkOrder(["late at 12.0 seconds"])
        #expect(network.events.map(\.kind.description).contains("clock of idle: jumps by -5.0 seconds"))
    }

    @Test func aCrashEndsASleepOfATaskThatIsNotOfTheProcess() async throws {
        let network = network()
        let (node, processes) = addIdle(network)
        try await network.run {
            let sleeper = Task { try await processes.events[0].clock.sleep(for: .seconds(100)) }
            try await clock.waitForSleepers()
            node.crash()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    @Test func aCallerThatIsCancelledLeavesItsSleep() async throws {
        let network = network()
        let (_, processes) = addIdle(network)
        try await network.run {
            let sleeper = Task { try await processes.events[0].clock.sleep(for: .seconds(100)) }
            try await clock.waitForSleepers()
            sleeper.cancel()
            await #expect(throws: CancellationError.self) { try await sleeper.value }
        }
    }

    // MARK: Traps

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func aNameThatNoNodeHasTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let network = SimulatedNetwork(seed: 1)
            for name in ["a", "b"] { network.addNode(name) { _ in } }
            network.partition(["a"], ["x"])
        }
        #expect(text(result).contains("has no node “x”. Its nodes: a, b."))
    }

    @Test(.oneProcessAtATime) func aNameThatTwoNodesHaveTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let network = SimulatedNetwork(seed: 1)
            for _ in 0..<2 { network.addNode("a") { _ in } }
        }
        #expect(text(result).contains("has a node “a” already"))
    }

    @Test(.oneProcessAtATime) func aNodeInTwoGroupsTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let network = SimulatedNetwork(seed: 1)
            network.addNode("a") { _ in }
            network.partition(["a"], ["a"])
        }
        #expect(text(result).contains("a node is in more than one group. Put each node in one group"))
    }

    @Test(.oneProcessAtATime) func aRateThatIsNotPositiveTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            SimulatedNetwork(seed: 1).addNode("a") { _ in }.clockRate = 0
        }
        #expect(text(result).contains("runs at a positive rate"))
    }

    @Test(.oneProcessAtATime) func aSecondRunTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let network = SimulatedNetwork(seed: 1)
            try await network.run {}
            try await network.run {}
        }
        #expect(text(result).contains("run was called twice"))
    }

    @Test(.oneProcessAtATime) func aValueOfAnotherTypeTraps() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let disk = SimulatedNetwork(seed: 1).addNode("a") { _ in }.disk
            disk.write(1, for: "x")
            _ = disk.read("x", as: String.self)
        }
        #expect(text(result).contains("The disk has a Int for “x”, which was read as String"))
    }
    #endif
}
