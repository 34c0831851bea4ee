internal import TaskControl

/// A sequence of points in the code of several tasks that forces the tasks to reach the points in a fixed order. A
/// point is a place where a task calls ``reach(_:)``.
///
/// ```swift
/// let order = Sequencer(points: 4)
/// async let writer: Void = {
///     register.write(1)
///     try await order.reach(0)                // it is written
///     try await order.reach(3)
///     register.write(2)
/// }()
/// try await order.reach(1)
/// let value = register.read()                   // 1, on every machine
/// try await order.reach(2)
/// try await writer
/// ```
///
/// Points are numbered from zero, and each is reached once. For a single point at which several tasks wait, use ``Gate``.
///
/// ## Ordering
/// ``reach(_:)`` returns once all lower points have been reached. Therefore the work that a task does *before* a point
/// is done before the work that another task does *after* a higher point. The work that a task does *after* its last
/// point has no fixed order with the work of other tasks. If another task must see the effect of some work, reach one
/// point after that work, and a higher point in the other task.
public final class Sequencer: Sendable {
    /// The number of points (places where a task calls ``reach(_:)``) of the sequencer, as passed to ``init(points:)``.
    public let points: Int

    private let level = Level(0)
    /// The points for which a call of ``reach(_:)`` is in progress.
    private let claims = Locked<Set<Int>>([])

    /// Creates a sequencer with the given number of points, none of which has been reached.
    ///
    /// - Parameter points: The number of points (places where a task calls ``reach(_:)``): zero or more. The points
    ///   have the numbers `0..<points`.
    public init(points: Int) {
        insist(points >= 0, "Sequencer(points: \(points)): the number of points must not be negative. Give 0 or more.")
        self.points = points
    }

    /// The number of points that have been reached. Since points are reached in order, these are the points below this
    /// number.
    public var reached: Int { level.value }

    /// Whether all points have been reached.
    public var isFinished: Bool { reached == points }

    /// Waits until all points with lower numbers have been reached, and marks the point with the number `point` as
    /// reached.
    ///
    /// Traps if the point is not in `0..<points`, or if another call has reached it or waits to reach it: two tasks at
    /// the same point would have no fixed order.
    ///
    /// ## Cancellation
    /// If the caller is cancelled, or was cancelled before the call, this function throws at once. The point is then
    /// not reached, and the callers at higher points continue to wait until another task reaches it.
    ///
    /// - Throws: `CancellationError` if the caller is cancelled.
    /// - Complexity: O(log *n*) in the number of waiting callers, amortized.
    public func reach(_ point: Int) async throws(CancellationError) {
        insist(
            (0..<points).contains(point),
            "Sequencer.reach(\(point)): the points are 0..<\(points). Create the sequencer with more points."
        )
        let isFirst = claims.withLock { $0.insert(point).inserted }
        // A call that reaches its point removes the point from `claims` only after it has raised the level. Therefore a
        // second call for the same point fails one of the two checks.
        insist(
            isFirst && level.value <= point,
            "Sequencer.reach(\(point)) was called twice. Give each place in the code a number of its own."
        )
        defer { claims.withLock { _ = $0.remove(point) } }
        try await level.wait(for: point)
        level.move { $0 = point + 1 }
    }
}
