#if os(Linux) || canImport(Darwin)
import CTaskControlTesting

/// The detection of the simulation's capabilities in this process, by running small programs with known results.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum SimulationTrials {
    /// Returns the capabilities that work in this process.
    ///
    /// - Parameter possible: The capabilities that the platform can have, in addition to
    ///   `SimulationCapabilities.schedules`. The others are tried only if it contains all of
    ///   `SimulationCapabilities.interposed`.
    static func capabilities(_ possible: SimulationCapabilities) -> SimulationCapabilities {
        guard tc_isAvailable(), ordersJobs(possible) else { return [] }
        var found: SimulationCapabilities = [.schedules, .crashNotes, .watchdog]
        // All others need to intercept the calls of compiled code.
        guard possible.contains(.interposed) else { return found }
        if seesCreation() { found.insert(.createdTasks) }
        if hopsEndSteps() { found.insert(.hops) }
        if clocksAreVirtual() { found.insert(.virtualTime) }
        if statesAreRead() { found.insert(.taskStates) }
        if seesEscapes() { found.insert(.escapes) }
        return found
    }

    private static func run(
        _ capabilities: SimulationCapabilities = .interposed,
        _ body: @escaping SimulationPlan.Body
    ) -> SimulationResult {
        let location = Simulation.Location(fileID: #fileID, filePath: #filePath, line: #line, column: #column)
        let call = SimulationCall(maxSteps: 100, location: location)
        var plan = SimulationPlan(
            seed: 0,
            strategy: .inOrder,
            call: call,
            capabilities: capabilities,
            grace: .zero
        )
        plan.namesCallers = false
        return SimulationSupport.run(plan, body)
    }

    private static func ordersJobs(_ possible: SimulationCapabilities) -> Bool {
        let result = run(possible) { sim in
            let task = Task { try await Task.sleep(for: .seconds(3_600)) }
            sim.expect(await TrialActor().enter() == 1)
            // Without interposed functions, some versions of the runtime run such a task on another thread.
            await TrialActor().yieldInTask()
            try await task.value
        }
        // Without virtual time, the deadline is of the real clock.
        return result.reason == nil && (.seconds(3_599)...(.seconds(3_600))).contains(result.run.elapsed)
    }

    private static func seesCreation() -> Bool {
        let result = run { _ in await Task.detached(name: "detached") {}.value }
        return result.reason == nil
            && result.log.tasks.all == [
                SimulationTask(number: 0, name: "body", creator: nil),
                SimulationTask(number: 1, name: "detached", creator: 0),
            ]
    }

    private static func hopsEndSteps() -> Bool {
        let result = run { sim in
            let actor = TrialActor()
            sim.expect(await actor.enter() == 1)
            sim.expect(await actor.enter() == 2)
        }
        return result.reason == nil && result.log.steps.contains { $0.actor == "TrialActor" }
    }

    private static func clocksAreVirtual() -> Bool {
        let result = run { sim in
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(3_600))
            // Each read of the clock takes a nanosecond.
            sim.expect((.seconds(3_600)...(.seconds(3_600) + .microseconds(1))).contains(start.duration(to: .now)))
        }
        return result.reason == nil
    }

    /// Returns whether the states of tasks can be read. The memory layout of a task is not part of the ABI. Therefore,
    /// this function checks it with a known deadlock: the body waits for a task whose continuation was lost.
    private static func statesAreRead() -> Bool {
        let result = run([.interposed, .taskStates]) { _ in
            let lost = Task(name: "lost") {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            await lost.value
        }
        guard case .deadlock = result.reason else { return false }
        let body = SimulationTask(number: 0, name: "body", creator: nil)
        let lost = SimulationTask(number: 1, name: "lost", creator: 0)
        return result.unfinished == [
            SimulationUnfinishedTask(task: body, creator: nil, state: .awaitingTask(lost)),
            SimulationUnfinishedTask(task: lost, creator: body, state: .awaitingContinuation),
        ]
    }

    private static func seesEscapes() -> Bool {
        let result = run { _ in System.touchNothing() }
        guard case .escaped = result.reason else { return false }
        return true
    }
}

private actor TrialActor {
    private var entries = 0

    /// Hops to this actor, and returns the number of hops so far. The function is not inlined and its result is used,
    /// because the optimizer removes a hop without an effect.
    @inline(never) func enter() -> Int {
        entries += 1
        return entries
    }

    /// Creates a task on this actor that yields there, and awaits it.
    func yieldInTask() async { await Task { await self.yield() }.value }

    private func yield() async {
        await Task.yield()
        entries += 1
    }
}
#endif
