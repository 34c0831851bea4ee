import Benchmark
import TaskControl

/// Registers the benchmark of work that does not retain its owner, compared with the same work written by hand.
func registerOwnerSafeWork() {
    Benchmark.runToTheEnd(
        "AsyncLifetime.run",
        primitive: "`lifetime.run(for:)`",
        headline: 100,
        baseline: "`Task { [weak owner] … }`",
        makeBaseline: {
            let owner = Owner()
            return Contender(
                start: { index, countdown in
                    Task { [weak owner] in
                        let value = index
                        guard !Task.isCancelled, let owner else { return }
                        owner.receive(value)
                        countdown.hit()
                    }
                },
                park: { index, lot in
                    Task { [weak owner] in
                        await lot.park(index)
                        guard !Task.isCancelled, let owner else { return }
                        owner.receive(index)
                    }
                }
            )
        },
        makePrimitive: {
            let owner = Owner()
            let lifetime = AsyncLifetime()
            return Contender(
                start: { index, countdown in
                    lifetime.run(for: owner) {
                        index
                    } deliver: { owner, value in
                        owner.receive(value)
                        countdown.hit()
                    }
                },
                park: { index, lot in
                    lifetime.run(for: owner) {
                        await lot.park(index)
                        return index
                    } deliver: { owner, value in
                        owner.receive(value)
                    }
                }
            )
        }
    )
}

private final class Owner: Sendable {
    /// Receives a value. Not inlined, so that the compiler cannot remove the owner.
    @inline(never) func receive(_ value: Int) {}
}
