import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// In a simulation, the code of a crashed node makes no further step.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct NetworkCrashTests {
    private struct Ask: SimulatedNetwork.Request { typealias Reply = Int }

    private static let seeds = Schedules.seeds(500, inDebug: 30)

    /// The first retry loop that anyone writes. Its calls fail without a suspension after the crash.
    @Test func aLoopThatRepeatsARequestMakesNoFurtherStep() throws {
        try simulate(seeds: Self.seeds) { sim in
            let (network, asked) = (
                SimulatedNetwork(in: sim, latency: .milliseconds(1) ... .milliseconds(2)), OrderRecorder<Int>()
            )
            network.addNode("server") { _ in }
            let client = network.addNode("client") { process in
                process.addTask {
                    while (try? await process.send(Ask(), to: "server")) == nil { asked.record(process.incarnation) }
                }
            }
            try await network.run {
                try await Task.sleep(for: .milliseconds(10))
                client.crash()
                let count = asked.events.count
                try await Task.sleep(for: .seconds(1))
                sim.expect(asked.events.count == count)
            }
        }
    }

    @Test func noTaskOfAProcessMakesAStepAfterItsCrash() throws {
        try simulate(seeds: Self.seeds) { sim in
            let (network, beats) = (SimulatedNetwork(in: sim), OrderRecorder<String>())
            @Sendable func beat(_ name: String) async {
                while true {
                    await withTaskCancellationHandler {
                        try? await Task.sleep(for: .milliseconds(1))
                    } onCancel: {
                        beats.record("\(name) is cancelled")
                    }
                    beats.record(name)
                }
            }
            let node = network.addNode("node") { process in
                guard process.incarnation == 1 else { return }
                process.handle(Ask.self) { _ in
                    await beat("handler")
                    return 1
                }
                process.addTask {
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await beat("child") }
                        async let other: Void = beat("async let")
                        await beat("task")
                        await other
                    }
                }
                Task { await beat("unstructured") }
            }
            try await network.run {
                let asking = Task { try await network.send(Ask(), to: "node") }
                try await Task.sleep(for: .milliseconds(50))
                sim.expect(Set(beats.events) == ["handler", "child", "async let", "task", "unstructured"])
                node.crash()
                let count = beats.events.count
                try await Task.sleep(for: .milliseconds(50))
                sim.expect(beats.events.count == count)
                node.restart()
                sim.expect(node.isRunning && node.incarnation == 2)
                asking.cancel()
            }
        }
    }

    @Test func noTimePassesForTheSleepsOfACrashedNode() throws {
        let run = try simulate(seed: 1) { sim in
            let network = SimulatedNetwork(in: sim)
            let node = network.addNode("node") { process in
                process.addTask { try await Task.sleep(for: .seconds(3_600)) }
            }
            try await network.run {
                try await Task.sleep(for: .milliseconds(10))
                node.crash()
            }
        }
        #expect(run.elapsed == .milliseconds(10))
    }

    /// It belongs to no process: its creator may be code outside of the node, such as a service that a fake stands for.
    @Test func aDetachedTaskGoesOn() throws {
        try simulate(seeds: Self.seeds) { sim in
            let (network, ended) = (SimulatedNetwork(in: sim), Gate())
            let node = network.addNode("node") { _ in
                Task.detached {
                    try await Task.sleep(for: .milliseconds(20))
                    ended.open()
                }
            }
            try await network.run {
                try await Task.sleep(for: .milliseconds(10))
                node.crash()
                try await ended.wait()
            }
        }
    }

    @Test func aMessageThatWasSentBeforeTheCrashArrives() throws {
        try simulate(seeds: Self.seeds) { sim in
            let (network, arrived) = (
                SimulatedNetwork(in: sim, latency: .milliseconds(20) ... .milliseconds(30)), Gate()
            )
            network.addNode("server") { process in
                process.handle(Ask.self) { _ in
                    arrived.open()
                    return 1
                }
            }
            let client = network.addNode("client") { process in
                process.addTask { _ = try await process.send(Ask(), to: "server") }
            }
            try await network.run {
                try await Task.sleep(for: .milliseconds(10))
                client.crash()
                try await arrived.wait()
            }
        }
    }

    @Test func theReportNamesTheTasksThatWereLost() throws {
        let failure = try #require(
            failure { sim in
                let (network, lost) = (SimulatedNetwork(in: sim), Locked<Task<Void, Never>?>(nil))
                let node = network.addNode("node") { _ in
                    let task = Task(name: "worker") {
                        try? await Task.sleep(for: .seconds(1))
                        return
                    }
                    lost.withLock { $0 = task }
                }
                try await network.run {
                    try await Task.sleep(for: .milliseconds(10))
                    node.crash()
                    await lost.withLock(\.self)?.value
                }
            }
        )
        guard case .deadlock = failure.reason else { Issue.record("\(failure)"); return }
        let text = "\(failure)"
        #expect(text.contains(/#\d+ worker \(created by #0 body\) was lost in a crash/), "\(text)")
        #expect(text.contains(/#0 body waits for #\d+ worker/), "\(text)")
    }

    /// The tasks of the node are cancelled at the end of the run, which is no crash.
    @Test func theEndOfTheRunCancelsTheTasksOfANode() throws {
        try simulate(seeds: Self.seeds) { sim in
            let (network, cancelled) = (SimulatedNetwork(in: sim), OrderRecorder<Bool>())
            network.addNode("node") { process in
                process.addTask {
                    try? await process.clock.sleep(for: .seconds(60))
                    cancelled.record(Task.isCancelled)
                }
            }
            try await network.run { try await Task.sleep(for: .milliseconds(10)) }
            sim.expect(cancelled.events == [true])
        }
    }
}
