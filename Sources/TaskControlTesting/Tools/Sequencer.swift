internal import TaskControl

/// Forces points of several tasks into one order.
///
/// ```swift
/// let order = Sequencer(points: 4)
/// async let writer: Void = {
///     store.write(1)
///     try await order.reach(0)                // it is written
///     try await order.reach(3)
///     store.write(2)
/// }()
/// try await order.reach(1)
/// let value = store.read()                   // 1, on every machine
/// try await order.reach(2)
/// try await writer
/// ```
///
/// Points count from zero, and each is reached once. For one point that several wait for, use ``Gate``.
///
/// ## Ordering
/// ``reach(_:)`` returns once all lower points have been reached. So the work of a task *before* a point is done before
/// the work of another *after* a higher point. Their work after the points runs side by side: if the second
/// must see what the first did between two points, the first reaches a point when it has done it.
public final class Sequencer: Sendable {
    /// The number of points.
    public let points: Int

    private let level = Level(0)
    /// The points that have been claimed.
    private let claims = Locked<Set<Int>>([])

    /// Creates a sequencer that waits for its first point.
    ///
    /// - Parameter points: The number of points: `0..<points`.
    public init(points: Int) {
        insist(points >= 0, "A Sequencer has zero points or more; it was made with \(points).")
        self.points = points
    }

    /// The number of points that have been reached: all below this number.
    public var reached: Int { level.value }

    /// Whether all points have been reached.
    public var isFinished: Bool { reached == points }

    /// Waits until all lower points have been reached, and reaches this one.
    ///
    /// Traps if the point is none of `0..<points`, or if another task has reached it or waits to: two tasks at one
    /// point have no order.
    ///
    /// ## Cancellation
    /// A caller that is cancelled leaves at once, also if it was cancelled before it called. It has not reached its
    /// point, so no task gets past the point until another task reaches it.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(*n*) in the number of waiting callers.
    public func reach(_ point: Int) async throws(CancellationError) {
        insist(
            (0..<points).contains(point),
            "Sequencer.reach(\(point)): its points are 0..<\(points). Make it with as many points as there are."
        )
        let isFirst = claims.withLock { $0.insert(point).inserted }
        // The claim is released after the level has risen, so one of the two checks fails.
        insist(
            isFirst && level.value <= point,
            "Sequencer.reach(\(point)) was called twice. Give each place in the code a number of its own."
        )
        defer { claims.withLock { _ = $0.remove(point) } }
        try await level.wait(for: point)
        level.move { $0 = point + 1 }
    }
}
