/// One of the two sides of a comparison: a way to start tasks.
///
/// Both closures of all contenders do the same in the task; they differ in how the task is started, and in nothing else.
struct Contender: Sendable {
    /// Starts a task that counts down, and ends.
    let start: @Sendable (_ index: Int, _ countdown: Countdown) -> Void
    /// Starts a task that parks, and ends when it is let go.
    let park: @Sendable (_ index: Int, _ lot: ParkingLot) -> Void

    /// The floor: a task that nobody owns.
    static var bareTask: Contender {
        Contender(
            start: { _, countdown in Task { countdown.hit() } },
            park: { index, lot in Task { await lot.park(index) } }
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
