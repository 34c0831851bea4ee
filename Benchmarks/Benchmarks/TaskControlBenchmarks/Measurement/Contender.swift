/// One of the two sides of a comparison: a way to start tasks. Both closures of all contenders do the same in the task; only the way in which the
/// task is started differs.
///
/// Both closures of all contenders do the same in the task; they differ in how the task is started, and in nothing else.
struct Contender: Sendable {
    /// The closure that starts a task that counts down, and ends.
    let start: @Sendable (_ index: Int, _ countdown: Countdown) -> Void
    /// The closure that starts a task that parks, and ends when the task is released.
    let park: @Sendable (_ index: Int, _ lot: ParkingLot) -> Void

    /// The floor: a task without an owner.
    static var bareTask: Contender {
        Contender(
            start: { _, countdown in Task { countdown.hit() } },
            park: { index, lot in Task { await lot.park(index) } }
        )
    }

    /// Creates a contender whose tasks only run to their ends.
    static func started(_ start: @escaping @Sendable (Countdown) -> Void) -> Contender {
        indexed { _, countdown in start(countdown) }
    }

    /// Creates a contender whose tasks have an index, and only run to their ends.
    static func indexed(_ start: @escaping @Sendable (_ index: Int, Countdown) -> Void) -> Contender {
        Contender(start: start, park: { _, _ in preconditionFailure("this one does not park") })
    }

    /// Times two sides, turn by turn.
    static func compare(
        _ name: String,
        _ primitive: Contender,
        to baselineName: String,
        _ baseline: Contender,
        depth: Int
    ) async -> Row {
        let clock = ContinuousClock()
        return Row(
            primitive: name,
            baseline: baselineName,
            turns: await Turns.take(
                operations: Scale.tasks,
                baseline: { await clock.measure { await baseline.run(tasks: Scale.tasks, depth: depth) } },
                primitive: { await clock.measure { await primitive.run(tasks: Scale.tasks, depth: depth) } }
            )
        )
    }

    /// Starts a number of tasks and waits for them to end, `depth` at a time.
    @concurrent func run(tasks: Int, depth: Int) async {
        for first in stride(from: 0, to: tasks, by: depth) {
            let countdown = Countdown(depth)
            for index in first..<first + depth { start(index, countdown) }
            await countdown.wait()
        }
    }
}
