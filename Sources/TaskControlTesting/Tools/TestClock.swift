internal import TaskControl

/// A clock whose time the test moves, so that code that waits for minutes is tested without waiting.
///
/// ```swift
/// let clock = TestClock()
/// let poller = Task { try await poll(every: .seconds(30), clock: clock) }
/// await clock.advance(by: .seconds(90), waking: 3)          // three rounds
/// ```
///
/// If the test makes no claim about time, use `TestClock(advancesAutomatically: true)`: whenever tasks sleep, time jumps to the first
/// deadline.
///
/// ## Ordering
/// The clock wakes sleepers one after another, by deadline and then in the order of their calls. The time is a sleeper's deadline when the
/// clock wakes the sleeper, and the clock does not look for the next sleeper before that `sleep` has returned. Time never runs backwards.
///
/// The work of a task after its `sleep` has returned is concurrent with the clock and with the test. Therefore:
/// - If one task sleeps several times, pass the number of sleeps to ``advance(by:waking:)``. Time then stands still until
///   the task sleeps again, regardless of its other work, and of its executor.
/// - If several tasks sleep several times, wait before each deadline until all of them sleep
///   (``waitForSleepers(count:)``), and advance to that deadline. Otherwise time moves on as soon as one of them sleeps.
/// - Before the test checks what a task has done, it waits for that: for the task's value, an event of an ``OrderRecorder``,
///   a ``Gate``. ``sleeperCount`` needs no wait: a sleeper that has been woken is not counted.
///
/// If the test and its tasks run on one actor, and the tasks call ``sleep(until:tolerance:)`` directly, a task that wakes
/// runs to its next suspension before time moves on.
///
/// With `advancesAutomatically`, the clock promises only the order of deadlines among the tasks that sleep when time jumps.
public final class TestClock: Clock, Sendable {
    /// An instant of a ``TestClock``.
    public struct Instant: InstantProtocol, Hashable, CustomStringConvertible {
        /// The time since the clock was created.
        public let offset: Duration

        /// The instant at which every clock is created.
        public static let zero = Instant(offset: .zero)

        /// Creates an instant at an offset from the creation of the clock.
        ///
        /// - Parameter offset: The time since the clock was created.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// Returns the instant that is later by a duration, or earlier if the duration is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this instant to another, negative if the other is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns whether an instant is earlier than another.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }

        /// The time since the clock was created.
        public var description: String { "\(offset)" }
    }

    private let time = Level(Instant.zero)
    /// The number of sleepers that have come, for movers that wait for the next one.
    private let arrivals = Level(0)
    /// The number of sleepers that have been woken, and of those that have come to the end of their `sleep`.
    private let wakes = Locked(0)
    private let landings = Level(0)
    private let advancesAutomatically: Bool
    private let jump = Locked(JumpStateMachine())

    /// Creates a clock at ``Instant/zero``.
    ///
    /// - Parameter advancesAutomatically: Whether time jumps to the first deadline whenever tasks sleep. Otherwise only the test
    ///   advances it.
    public init(advancesAutomatically: Bool = false) {
        self.advancesAutomatically = advancesAutomatically
    }

    /// The current instant of the clock.
    public var now: Instant { time.value }

    /// Zero: a sleeper is woken at its deadline, not later.
    public var minimumResolution: Duration { .zero }

    // MARK: Sleeping

    /// Waits until the clock has reached the deadline. Returns at once if the deadline is not later than ``now``.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once, also if it was cancelled before the call. If the caller is cancelled after it has been woken, this
    /// returns normally.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the caller continues.
    ///   - tolerance: Not used: no sleeper is woken late.
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    /// - Complexity: O(*n*) in the number of sleepers; O(1) for a deadline that is not before any other.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws(CancellationError) {
        let hasSlept = try await time.wait(for: deadline) {
            arrivals.move { $0 += 1 }
            if advancesAutomatically { sleeperCame() }
        }
        if hasSlept { landings.move { $0 += 1 } }
    }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { time.waiterCount }

    /// Waits until at least the given number of tasks sleep, so that a test knows what its next ``advance(by:waking:)``
    /// finds.
    ///
    /// Checks the number at one moment: a sleeper may have left again when this returns. A task that has been cancelled is
    /// not counted.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    public func waitForSleepers(count: Int = 1) async throws(CancellationError) {
        try await time.wait(forWaiters: count)
    }

    // MARK: Moving time

    /// Advances time by a duration, from deadline to deadline, and wakes the sleepers that are due.
    ///
    /// Returns when the clock shows the new time, the `sleep` of each woken sleeper has returned, and at least `count` sleepers have been
    /// woken. Until then, the call waits for sleepers that are due in that time, and time stands still while it waits. It wakes all sleepers
    /// that are due when it looks, also more than `count`. The next work of the woken tasks is concurrent: see Ordering at ``TestClock``. Traps
    /// if the duration is negative.
    ///
    /// ## Cancellation
    /// Once the caller is cancelled, the call no longer waits: it wakes the sleepers that are due, sets the clock to the new time, and returns.
    ///
    /// - Parameters:
    ///   - duration: The time to move the clock by: zero or more.
    ///   - count: The least number of sleeps that must end on the way. If fewer sleeps end, the call waits until it is
    ///     cancelled.
    /// - Complexity: O(*m* log *n*) for *m* sleepers woken of *n*.
    public func advance(by duration: Duration, waking count: Int = 0) async {
        insist(
            duration >= .zero,
            "TestClock.advance(by: \(duration)): time does not run backwards. Advance by zero or more."
        )
        await move(to: now.advanced(by: duration), waking: count)
    }

    /// Advances time to a deadline, and wakes the sleepers that are due. Traps if the deadline is past.
    ///
    /// Equivalent to ``advance(by:waking:)`` with the time from now to the deadline, also on cancellation.
    ///
    /// - Parameters:
    ///   - deadline: The instant to advance to: now or later.
    ///   - count: The least number of sleeps that must end on the way.
    public func advance(to deadline: Instant, waking count: Int = 0) async {
        insist(
            deadline >= now,
            "TestClock.advance(to: \(deadline)): it is \(now), and time does not run backwards. Advance to later."
        )
        await move(to: deadline, waking: count)
    }

    /// Advances time, from deadline to deadline, until at least `count` sleepers have been woken and no task sleeps.
    ///
    /// Use this function for delays that the test does not know, such as those of a backoff with jitter. Does not return while a task sleeps
    /// again and again: cancel such a task first, or use ``advance(by:waking:)``. A task that has been woken may sleep again after the call has
    /// checked for sleepers: if it does, pass the number of sleeps, as for ``advance(by:waking:)``.
    ///
    /// ## Cancellation
    /// A caller that is cancelled returns at once, and leaves time where it is.
    ///
    /// - Parameter count: The least number of sleeps that must end. If fewer sleeps end, the call waits until it is
    ///   cancelled.
    public func run(waking count: Int = 0) async {
        await move(to: nil, waking: count)
    }

    /// Wakes the sleepers that are due, and waits for others until enough have been woken.
    ///
    /// Another call may have moved time as far meanwhile, or further.
    ///
    /// - Parameter deadline: `nil`: every sleeper is due, and time stays at the deadline of the last one.
    private func move(to deadline: Instant?, waking count: Int) async {
        var woken = 0
        // Without a deadline, tasks that sleep again and again would keep a cancelled caller here.
        while deadline != nil || !Task.isCancelled {
            // Read before the look: a sleeper that comes after it is a further arrival.
            let arrivalsSeen = arrivals.value
            let isEnough = woken >= count || Task.isCancelled
            if time.step(upTo: deadline, arrives: isEnough) {
                woken += 1
                await wakeHasLanded()
            } else if isEnough {
                return
            } else {
                _ = try? await arrivals.wait(for: arrivalsSeen + 1)
            }
        }
    }

    /// Waits until the sleeper that a step has woken has left its `sleep`, or the caller is cancelled.
    private func wakeHasLanded() async {
        let wakes = wakes.withLock { wakes in
            wakes += 1
            return wakes
        }
        _ = try? await landings.wait(for: wakes)
    }

    /// Moves time while any task sleeps, in a task that ends with the last sleeper.
    private func sleeperCame() {
        guard jump.withLock({ $0.sleeperCame() }) else { return }
        // Detached: time belongs to no sleeper, so it takes on no one's priority and task-locals.
        Task.detached(name: "TestClock") {
            repeat { await self.run() } while self.jump.withLock { $0.foundNobody() }
        }
    }
}
