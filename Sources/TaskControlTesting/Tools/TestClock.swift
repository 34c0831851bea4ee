internal import TaskControl

/// A clock whose time is moved by the test, so that what takes minutes is tested in none.
///
/// ```swift
/// let clock = TestClock()
/// let poller = Task { try await poll(every: .seconds(30), clock: clock) }
/// try await clock.waitForSleepers()          // it sleeps
/// await clock.advance(by: .seconds(90))      // three rounds
/// ```
///
/// Where the test has nothing to say about time, `TestClock(autoJump: true)` does not wait: whenever tasks sleep, time
/// jumps to the first deadline.
///
/// ## Ordering
/// Sleepers are woken one after another, by deadline and then in the order of their calls. Time stands at a sleeper's
/// deadline when it is woken, and the next is not looked for before that `sleep` has come to its end. Time never runs
/// backwards.
///
/// Between two sleepers there is *room*: yields, for as long as they make more tasks sleep, so that a task which sleeps
/// again soon after it was woken is found in time. Where the test and its tasks are on one actor and call
/// ``sleep(until:tolerance:)`` itself, that is exact: a sleeper runs up to its next suspension before time goes on.
/// Otherwise how much it does is up to the executors, and to what else the machine is doing; a test that cannot leave it
/// at that advances to one deadline at a time, and waits for the sleepers of the next (``waitForSleepers(count:)``).
///
/// With `autoJump`, what is promised is the order of deadlines among those who sleep when time jumps.
public final class TestClock: Clock, Sendable {
    /// A moment of a ``TestClock``.
    public struct Instant: InstantProtocol, Hashable, CustomStringConvertible {
        /// The time since the clock was made.
        public let offset: Duration

        /// The moment at which every clock is made.
        public static let zero = Instant(offset: .zero)

        /// The moment so long after the clock was made.
        ///
        /// - Parameter offset: The time since the clock was made.
        public init(offset: Duration) {
            self.offset = offset
        }

        /// The moment so much later, or earlier if that is negative.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// The time from here to there, negative if that is earlier.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Whether the one is earlier than the other.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }

        /// The time since the clock was made.
        public var description: String { "\(offset)" }
    }

    private let time = Level(Instant.zero)
    /// How many sleepers have been woken by steps, and how many of them have come to the end of their `sleep`.
    private let wakes = Locked(0)
    private let landings = Level(0)
    private let jumps: Bool
    private let jump = Locked(JumpStateMachine())

    /// Makes a clock at ``Instant/zero``.
    ///
    /// - Parameter autoJump: Whether time moves by itself while anybody sleeps. Otherwise only the test moves it.
    public init(autoJump: Bool = false) {
        jumps = autoJump
    }

    /// The time that it is.
    public var now: Instant { time.value }

    /// Zero: a sleeper is woken at its deadline, not later.
    public var minimumResolution: Duration { .zero }

    // MARK: Sleeping

    /// Waits until time has come to the deadline. Does not wait for a deadline that is past or now.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once, also if it was cancelled before it called. If the cancellation comes
    /// when it has been woken, it returns as if it had not.
    ///
    /// - Parameters:
    ///   - deadline: When to go on.
    ///   - tolerance: Not used: nobody is woken late.
    /// - Throws: `CancellationError` if the caller is cancelled, nothing else.
    /// - Complexity: O(*n*) in the number of sleepers; O(1) for a deadline that is not before any other.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let hasSlept = try await time.wait(for: deadline) { if jumps { sleeperCame() } }
        if hasSlept { landings.move { $0 += 1 } }
    }

    /// How many sleep at this moment.
    public var sleeperCount: Int { time.waiterCount }

    /// Waits until so many sleep, so that a test knows what its next ``advance(by:)`` will find.
    ///
    /// Looks at how many sleep at one moment: somebody may have left again when this returns.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled, nothing else.
    public func waitForSleepers(count: Int = 1) async throws {
        try await time.wait(forWaiters: count)
    }

    // MARK: Moving time

    /// Moves time on, from deadline to deadline, and wakes the sleepers that are due.
    ///
    /// Returns when each of them has been woken and has had room to run. Traps if the duration is negative.
    ///
    /// ## Cancellation
    /// Time gets to where it was to go all the same, but once the caller is cancelled no sleeper is given room.
    ///
    /// - Complexity: O(*m* × *n*) for *m* sleepers woken of *n*.
    public func advance(by duration: Duration) async {
        insist(
            duration >= .zero,
            "TestClock.advance(by: \(duration)): time does not run backwards. Advance by zero or more."
        )
        await move(to: now.advanced(by: duration))
    }

    /// Moves time on to a moment: as ``advance(by:)``, cancellation included. Traps if that moment is past.
    public func advance(to deadline: Instant) async {
        insist(
            deadline >= now,
            "TestClock.advance(to: \(deadline)): it is \(now), and time does not run backwards. Advance to later."
        )
        await move(to: deadline)
    }

    /// Time may get there by itself meanwhile, or further.
    private func move(to deadline: Instant) async {
        await makeRoom()
        while time.step(upTo: deadline) { await wakeHasLanded() }
    }

    /// Moves time on until nobody sleeps.
    ///
    /// Does not return while a task sleeps again and again: such a task is to be cancelled first, or time limited by
    /// ``advance(by:)``.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves time where it is.
    public func run() async {
        await makeRoom()
        while !Task.isCancelled, time.step() { await wakeHasLanded() }
    }

    /// Gives the sleeper that a step has woken the time to leave its `sleep`, and then room.
    private func wakeHasLanded() async {
        let wakes = wakes.withLock { wakes in
            wakes += 1
            return wakes
        }
        do { try await landings.wait(for: wakes) } catch { return }
        await makeRoom()
    }

    /// Lets other tasks run, and those that they make sleep.
    private func makeRoom() async {
        for _ in 0..<50 where !Task.isCancelled {
            let arrivals = time.arrivals
            for _ in 0..<20 { await Task.yield() }
            if time.arrivals == arrivals { return }
        }
    }

    /// Moves time while anybody sleeps, in a task that ends with the last sleeper.
    private func sleeperCame() {
        guard jump.withLock({ $0.sleeperCame() }) else { return }
        // Detached: time belongs to no sleeper, so it takes on no one's priority and task-locals.
        Task.detached(name: "TestClock") {
            repeat { await self.run() } while self.jump.withLock { $0.foundNobody() }
        }
    }
}
