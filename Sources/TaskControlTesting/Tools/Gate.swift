/// A gate at which tasks wait until the test opens it. A test uses it to stop a task at a known point.
///
/// ```swift
/// let gate = Gate()
/// let task = Task { try await gate.wait(); return 1 }
/// try await gate.waitForWaiters()        // the task stands at the gate
/// task.cancel()                          // … so what is tested here is a cancellation in the middle
/// gate.open()
/// ```
///
/// To force an order of several points, use an ``OrderRecorder``.
///
/// ## Ordering
/// Waiting callers are resumed in the order of their calls. Which of them runs first is decided by their executors.
public final class Gate: Sendable {
    private let level = Level(0)

    /// Creates a closed gate.
    public init() {}

    /// Whether the gate has been opened.
    public var isOpen: Bool { level.value > 0 }

    /// Opens the gate permanently, and resumes all waiting callers. Opening an open gate does nothing.
    ///
    /// May be called from any context, such as a `deinit`, a cancellation handler, or a callback.
    ///
    /// - Complexity: O(*n* log *n*) in the number of waiting callers.
    public func open() {
        level.move { $0 = 1 }
    }

    /// Waits until the gate is open, or until the caller is cancelled.
    ///
    /// ## Cancellation
    /// If the caller is cancelled while it waits, this function throws at once. If the caller was cancelled before the
    /// call, this function throws, even if the gate is open. If the gate is opened while the caller waits, and the
    /// caller is cancelled afterwards, this function returns normally.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func wait() async throws(CancellationError) {
        try await level.wait(for: 1)
    }

    /// Waits until the gate is open, even if the caller is cancelled. Use this function to test how code deals with work that ignores its
    /// cancellation.
    ///
    /// ## Cancellation
    /// A cancelled caller continues to wait.
    public func waitIgnoringCancellation() async {
        await level.waitIgnoringCancellation(for: 1)
    }

    /// The number of callers that wait for the gate to open. An open gate has none.
    public var waiterCount: Int { level.waiterCount }

    /// Waits until at least the given number of callers wait at the gate, so that the test knows where its tasks are.
    ///
    /// When this function returns, some of these callers can already have stopped waiting. At an open gate, where no
    /// caller waits, this function waits until its own caller is cancelled.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, this function throws at once.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    public func waitForWaiters(count: Int = 1) async throws(CancellationError) {
        try await level.wait(forWaiters: count)
    }
}
