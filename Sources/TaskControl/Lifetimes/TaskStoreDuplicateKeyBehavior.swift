/// The rule by which a `TaskStore` treats a new task whose key already has tasks.
///
/// | | the present task | the new task |
/// |---|---|---|
/// | ``cancelPrevious(wait:)`` | is cancelled | starts at once, or when the present task has ended |
/// | ``wait`` | continues | starts when the present task has ended |
/// | ``runConcurrently`` | continues | starts at once |
/// | ``preferPrevious-type.property`` | continues | is not created |
/// | ``keepLatest`` | a running task continues, a waiting one is cancelled | starts when the running task has ended |
/// | ``debounce(for:)`` | a running task is cancelled when the new one starts | starts after a quiet time |
/// | ``throttle(for:)`` | as for `debounce` | starts at once, or an interval after the last start |
///
/// A task that was cancelled but has not ended yet does not count as a present task, except for the behaviors that wait
/// for the present tasks to end: they also wait for cancelled tasks that have begun. A task that was cancelled before
/// it began never runs, and no task waits for it.
public struct TaskStoreDuplicateKeyBehavior: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case cancelPrevious(wait: Bool)
        case wait
        case runConcurrently
        case preferPrevious
        case keepLatest
        case debounce(Duration)
        case throttle(Duration)
    }

    let kind: Kind

    /// Cancels the running and waiting tasks of the key, and starts the new task.
    ///
    /// - Parameter wait: Whether the new task starts only when all cancelled tasks have ended. Otherwise they may
    ///   overlap.
    public static func cancelPrevious(wait: Bool) -> Self { Self(kind: .cancelPrevious(wait: wait)) }

    /// The behavior that starts the new task when all present tasks have ended. New tasks that wait start one after the
    /// other, in the order of the calls. No task is cancelled.
    ///
    /// The present tasks are escalated to the priority of the new task, also if the new task is escalated later, where
    /// the system supports it (macOS 26, Linux). A present task must not await the new task: each would wait for the
    /// other until the new task is cancelled.
    public static var wait: Self { Self(kind: .wait) }

    /// The behavior that starts the new task at once, beside the present tasks. All of these tasks belong to the key:
    /// they are counted and cancelled together.
    public static var runConcurrently: Self { Self(kind: .runConcurrently) }

    /// The behavior that keeps the present task and creates no new task; the call returns the present task.
    ///
    /// If the key has several tasks, the newest running one is returned, or, if none runs, the newest waiting one. If
    /// another thread is just adding the present task, the returned task is a proxy: it ends when the present task
    /// ends, and cancelling the proxy cancels the present task, but the two are not equal.
    public static var preferPrevious: Self { Self(kind: .preferPrevious) }

    /// The behavior that lets running tasks continue; of the waiting tasks, only the newest stays, and the others are
    /// cancelled.
    ///
    /// Use it for work that must process the latest state and must not be interrupted, such as saving a document.
    public static var keepLatest: Self { Self(kind: .keepLatest) }

    /// Starts the new task after a quiet time, in which no other task with this behavior is added under the key.
    ///
    /// A newer call restarts the quiet time, and the task of the older call is cancelled without having run. A running
    /// task continues until the quiet time is over, and is cancelled when the new task starts.
    ///
    /// - Parameter quietTime: Measured by the store's clock. If zero or negative, the task starts as soon as it is
    ///   scheduled.
    public static func debounce(for quietTime: Duration) -> Self { Self(kind: .debounce(quietTime)) }

    /// Starts the new task at once, or, if a task with this behavior has started under the key within the interval,
    /// when the interval has passed.
    ///
    /// Of the calls within an interval, only the task of the latest call starts, at the end of the interval; the other
    /// tasks are cancelled without having run. A running task continues until the new task starts, and is then
    /// cancelled. The interval begins when a task starts, and has the length that was given for that task. Combine's
    /// `throttle(for:scheduler:latest: true)` does the same with values. To start after the calls have stopped, use
    /// ``debounce(for:)``.
    ///
    /// - Parameter interval: Measured by the store's clock. If zero or negative, the next task does not wait.
    public static func throttle(for interval: Duration) -> Self { Self(kind: .throttle(interval)) }

    // MARK: Properties of a behavior

    /// Whether the present task of a key is kept and no new task is created.
    public var preferPrevious: Bool { kind == .preferPrevious }

    /// Whether the present tasks of the key are cancelled: at once, or when the new task starts.
    public var cancelPrevious: Bool {
        switch kind {
        case .cancelPrevious, .debounce, .throttle: true
        case .wait, .runConcurrently, .preferPrevious, .keepLatest: false
        }
    }

    /// Whether the new task, if one is created, starts only when the present tasks of the key have ended. Also `true`
    /// for ``preferPrevious-type.property``, which creates a new task only if the key has no present task.
    public var waitForPrevious: Bool {
        switch kind {
        case .cancelPrevious(let wait): wait
        case .wait, .keepLatest, .preferPrevious: true
        case .runConcurrently, .debounce, .throttle: false
        }
    }

    /// Whether a new task is created even if the key has a task.
    public var runNewTask: Bool { !preferPrevious }
}
