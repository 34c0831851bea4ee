/// Something to wait for, that is opened once: stops a task at a point until the test lets it go on.
///
/// ```swift
/// let gate = Gate()
/// let task = Task { try await gate.wait(); return 1 }
/// try await gate.waitForWaiters()        // the task stands at the gate
/// task.cancel()                          // … so what is tested here is a cancellation in the middle
/// gate.open()
/// ```
///
/// For an order among several points, use ``Sequencer``.
///
/// ## Ordering
/// Those who wait are resumed in the order of their calls. Which of them runs first is up to their executors.
public final class Gate: Sendable {
    private let level = Level(0)

    /// Makes a closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { level.value > 0 }

    /// Opens the gate for good, and resumes everybody who waits. Opening it again does nothing.
    ///
    /// May be called from anywhere: a `deinit`, a cancellation handler, a callback.
    ///
    /// - Complexity: O(*n*) in the number of those who wait.
    public func open() {
        level.move { $0 = 1 }
    }

    /// Waits until the gate is open, as work does that respects its cancellation.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once. One that was cancelled before it called does not pass, even if the
    /// gate is open. If the cancellation comes when the gate has been opened for the caller, the caller passes.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func wait() async throws(CancellationError) {
        try await level.wait(for: 1)
    }

    /// Waits until the gate is open, as work does that ignores its cancellation.
    ///
    /// ## Cancellation
    /// A caller that is cancelled goes on waiting.
    public func waitIgnoringCancellation() async {
        await level.waitIgnoringCancellation(for: 1)
    }

    /// How many wait at this moment. An open gate has none.
    public var waiterCount: Int { level.waiterCount }

    /// Waits until so many wait at the gate, so that a test knows where they are.
    ///
    /// Looks at how many wait at one moment: somebody may have left again when this returns. Nobody waits at an open
    /// gate, so this does not return there until it is cancelled.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func waitForWaiters(count: Int = 1) async throws(CancellationError) {
        try await level.wait(forWaiters: count)
    }
}
