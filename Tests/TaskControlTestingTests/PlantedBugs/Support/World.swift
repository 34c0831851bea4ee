import TaskControlTesting

extension PlantedBug {
    /// The environment of a body: a seed of a simulation, or an ordinary test on the real runtime.
    struct World: Sendable {
        private enum Host: Sendable {
            case simulation(Simulation)
            case ordinaryRun(OrdinaryRun)
        }

        private let host: Host

        init(_ simulation: Simulation) {
            host = .simulation(simulation)
        }

        init(_ run: OrdinaryRun) {
            host = .ordinaryRun(run)
        }

        /// Records a failure unless the condition holds.
        func expect(
            _ condition: Bool,
            _ message: @autoclosure () -> String,
            fileID: String = #fileID,
            line: Int = #line
        ) {
            switch host {
            case .simulation(let simulation): simulation.expect(condition, message(), fileID: fileID, line: line)
            case .ordinaryRun(let run): if !condition { run.fail() }
            }
        }

        /// Writes a line to the log of the simulation.
        ///
        /// A call between two awaits on the same actor also makes the task leave the actor: without one the compiler leaves out both hops.
        func note(_ text: String) {
            if case .simulation(let simulation) = host { simulation.note(text) }
        }

        /// Returns a number that the seed decides; in an ordinary run, a random one.
        func draw(_ range: ClosedRange<Int>) -> Int {
            switch host {
            case .simulation(let simulation):
                var random = simulation.random
                return Int.random(in: range, using: &random)
            case .ordinaryRun: return Int.random(in: range)
            }
        }

        /// Stands for work of unknown duration, such as a request: sleeps for 1 to 9 milliseconds, or until the task is cancelled.
        func pause() async {
            try? await Task.sleep(for: .milliseconds(draw(1...9)))
        }

        /// Calls the action once, at a moment that the seed decides; in an ordinary run, after 1 to 9 milliseconds.
        func atAnyPoint(_ action: @escaping @Sendable () -> Void) {
            switch host {
            case .simulation(let simulation): simulation.atAnyPoint(action)
            case .ordinaryRun:
                Task.detached {
                    await pause()
                    action()
                }
            }
        }

        func cancelAtAnyPoint<Success, Failure>(_ task: Task<Success, Failure>) {
            atAnyPoint { task.cancel() }
        }
    }
}
