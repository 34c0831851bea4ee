import TaskControlApexy
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct ContentLoaderSimulationTests {
    private struct Failure: Error {}

    /// Programs of loads that take a random time, of which some fail, some ignore their cancellation, and some are
    /// cancelled.
    @Test func theNewestLoadAloneDecidesTheState() async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(5_000, inDebug: 50)) { @MainActor sim in
                var random = SeededGenerator(seed: sim.seed)
                let running = Locked(0)
                let loader = ContentLoader<Int> { -1 }
                // The state before the newest load, and the state after it if it is not cancelled.
                var (before, after) = (LoadingState<Int>.initial, LoadingState<Int>.initial)
                var shown = loader.state
                let observation = loader.observe { [unowned loader] in
                    sim.expect(shown != loader.state, "a handler is called for a change")
                    shown = loader.state
                    let allowed = shown.isLoading ? [.loading(cache: before.content)] : [before, after]
                    sim.expect(allowed.contains(shown), "\(shown) is not of the newest load")
                }
                for number in 0..<8 {
                    let time = Duration.milliseconds(Int.random(in: 0..<40, using: &random))
                    let (fails, ignores) = (Bool.random(using: &random), Bool.random(using: &random))
                    if !loader.state.isLoading { before = loader.state }
                    after = fails ? .failure(error: Failure(), cache: before.content) : .success(content: number)
                    loader.reload {
                        running.withLock { $0 += 1 }
                        defer { running.withLock { $0 -= 1 } }
                        if ignores {
                            await Task { try? await Task.sleep(for: time) }.value
                        } else {
                            try await Task.sleep(for: time)
                        }
                        if fails { throw Failure() }
                        return number
                    }
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0..<40, using: &random)))
                    if Bool.random(using: &random) {
                        let isCancelled = loader.state.isLoading
                        loader.cancel()
                        if isCancelled { after = before }
                    }
                }
                try await loader.drain()
                sim.expect(loader.state == after, "no late result overwrites")
                sim.expect(shown == loader.state, "the last change was reported")
                sim.expect(running.withLock(\.self) == 0, "drain waits for cancelled loads")
                withExtendedLifetime(observation) {}
            }
        }
    }
}
