import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

/// When a call that ends an owner has returned, none of its work begins, and all of it is cancelled.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct OwnerEndTests {
    private final class Model: Sendable {}

    /// A way to start work in a lifetime.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let start: @Sendable (AsyncLifetime, EndWitness) -> Void
    }

    private static let model = Model()

    private static func steps(_ witness: EndWitness, _ work: String) async {
        for _ in 1...3 {
            witness.continues(work)
            await Task.yield()
            witness.continues(work)
            try? await Task.sleep(for: .seconds(1))
        }
    }

    static let forms = [
        Form(testDescription: "addTask") { lifetime, witness in
            lifetime.addTask {
                witness.begins("the task")
                await steps(witness, "the task")
            }
        },
        Form(testDescription: "run(for:)") { lifetime, witness in
            lifetime.run(for: model) {
                witness.begins("the work")
                await steps(witness, "the work")
            } deliver: { _, _ in
                witness.begins("the delivery")
            }
        },
        Form(testDescription: "forEach(for:)") { lifetime, witness in
            lifetime.forEach(elements(3), for: model) { _, _ in
                witness.begins("a delivery")
                await Task.yield()
                witness.continues("a delivery")
            }
        },
        Form(testDescription: "every") { lifetime, witness in
            lifetime.every(.seconds(2), initialDelay: .zero) {
                witness.begins("a tick")
                await steps(witness, "a tick")
            }
        },
        Form(testDescription: "every(for:)") { lifetime, witness in
            lifetime.every(.seconds(2), initialDelay: .zero, for: model) {
                witness.begins("a tick")
                await steps(witness, "a tick")
            } deliver: { _, _ in
                witness.begins("a delivery")
            }
        },
        Form(testDescription: "keepRunning") { lifetime, witness in
            lifetime.keepRunning("feed", limit: .unlimited) { run in
                witness.begins("a run")
                await steps(witness, "a run")
                run.markReady()
                await steps(witness, "a run")
            }
        },
        Form(testDescription: "keepRunning with a grace") { lifetime, witness in
            lifetime.keepRunning("feed", grace: .seconds(5)) { run in
                witness.begins("a run")
                run.markReady()
                await steps(witness, "a run")
            }
        },
        Form(testDescription: "keepRunning(for:)") { lifetime, witness in
            lifetime.keepRunning("feed", for: model, limit: .unlimited) { (_: Int?) in
                witness.begins("a connection")
                await Task.yield()
                witness.continues("a connection")
                return elements(3)
            } deliver: { _, _ in
                witness.begins("a delivery")
                await Task.yield()
                witness.continues("a delivery")
            }
        },
        Form(testDescription: "keepRunning(for:) without the last element") { lifetime, witness in
            lifetime.keepRunning("feed", for: model, limit: .unlimited) {
                witness.begins("a connection")
                return elements(3)
            } deliver: { _, _ in
                witness.begins("a delivery")
            }
        },
    ]

    /// Elements that wait already.
    private static func elements(_ count: Int) -> AsyncStream<Int> {
        let (stream, input) = AsyncStream<Int>.makeStream()
        for number in 1...count { input.yield(number) }
        input.finish()
        return stream
    }

    @Test(arguments: forms) func nothingBeginsOrContinuesAfterTheEndOfALifetime(_ form: Form) throws {
        try expectNothingAfterTheEnd(
            of: { _ in AsyncLifetime(name: "model") },
            seeds: Schedules.seeds(5_000, inDebug: 50),
            start: form.start
        )
    }

    @Test func nothingBeginsOrContinuesAfterTheEndOfASupervisor() throws {
        try expectNothingAfterTheEnd(
            of: { _ in Supervisor(name: "backend") },
            // A supervisor is retained while it runs.
            ends: [.cancelAll, .cancelAllForAReason, .close],
            seeds: Schedules.seeds(5_000, inDebug: 50)
        ) { supervisor, witness in
            for name in ["a", "b"] {
                supervisor.keepRunning(name, grace: .seconds(5)) { run in
                    witness.begins(name)
                    run.markReady()
                    await Self.steps(witness, name)
                }
            }
            Task { try? await supervisor.run() }
        }
    }
}
