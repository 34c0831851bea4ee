/// A gate that is opened once: it stops a task at a point until the test lets the task continue.
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
/// Waiting callers are resumed in the order of their calls. Their executors decide which of them runs first.
public final class Gate: Sendable {
    private let level = Level(0)

    /// Creates a closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { level.value > 0 }

    /// Opens the gate permanently, and resumes all waiting callers. Opening it again does nothing.
    ///
    /// May be called from anywhere: a `deinit`, a cancellation handler, a callback.
    ///
    /// - Complexity: O(*n*) in the number of waiting callers.
    public func open() {
        level.move { $0 = 1 }
    }

    /// Waits until the gate is open, or until the caller is cancelled.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once. If the caller was cancelled before the call, this throws, even if the gate is
    /// open. If the caller is cancelled after the gate was opened for it, this returns normally.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func wait() async throws(CancellationError) {
        try await level.wait(for: 1)
    }

    /// Waits until the gate is open, even if the caller is cancelled: for tests of work that ignores its cancellation.
    ///
    /// ## Cancellation
    /// A cancelled caller continues to wait.
    public func waitIgnoringCancellation() async {
        await level.waitIgnoringCancellation(for: 1)
    }

    /// The number of waiting callers. An open gate has none.
    public var waiterCount: Int { level.waiterCount }

    /// Waits until the given number of callers wait at the gate, so that a test knows where they are.
    ///
    /// Checks the number at one moment: a caller may have left again when this returns. No caller waits at an open
    /// gate, so at an open gate this does not return until it is cancelled.
    ///
    /// ## Cancellation
    /// A cancelled caller returns at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func waitForWaiters(count: Int = 1) async throws(CancellationError) {
        try await level.wait(forWaiters: count)
    }
}
