/// The rule by which a `TaskStore` treats a new task whose key already has tasks.
///
/// | | the present task | the new task |
/// |---|---|---|
/// | ``cancelPrevious(wait:)`` | is cancelled | starts at once, or when the present task has ended |
/// | ``wait`` | continues | starts when the present task has ended |
/// | ``runConcurrently`` | continues | starts at once |
/// | ``preferPrevious-type.property`` | continues | is not created |
/// | ``keepLatest`` | continues if it has begun, is cancelled if not | starts when the running task has ended |
/// | ``debounce(for:then:)`` | is cancelled at the latest when the new task starts | starts after a quiet time |
/// | `debounce(for:then: .keepLatest)` | as for `keepLatest` | starts after a quiet time, when the running task has ended |
/// | ``throttle(for:)`` | as for `debounce` | starts at once, or an interval after the last start |
///
/// The present tasks are those that run or wait to start. A cancelled task is not a present task. But a new task that
/// waits for the present tasks to end also waits for cancelled tasks that have begun. A task that was cancelled before
/// it began never runs, and no task waits for it. The exception is a task that was cancelled through its own `Task`
/// handle, and whose operation is isolated to a busy actor: the task ends, and later tasks stop waiting for it, when
/// the actor is free.
///
/// A task has begun when its operation runs. Before that, the actor of the operation may be busy although the task may
/// start: ``TaskStore/taskIsRunning(forKey:)`` then counts the task, but ``keepLatest`` and ``debounce(for:then:)`` cancel it
/// like a waiting task.
///
/// In a store that limits how many of its tasks run, a task that would start may have to wait for tasks of other keys. It
/// is then a waiting task: the behaviors treat it like one that waits for an older task of its key. A task that cancels
/// others when it starts, and must wait then, cancels them before it waits, because it may start in place of one of them.
public struct TaskStoreDuplicateKeyBehavior: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case cancelPrevious(wait: Bool)
        case wait
        case runConcurrently
        case preferPrevious
        case keepLatest
        case debounce(Duration, then: AfterQuietTime)
        case throttle(Duration)
    }

    let kind: Kind

    /// Cancels the running and waiting tasks of the key, and starts the new task.
    ///
    /// - Parameter wait: `true`: the new task starts when all cancelled tasks have ended. `false`: it starts at once,
    ///   and may overlap the cancelled tasks.
    public static func cancelPrevious(wait: Bool) -> Self { Self(kind: .cancelPrevious(wait: wait)) }

    /// The behavior that starts the new task when all present tasks have ended. New tasks that wait start one after the
    /// other, in the order of the calls. No task is cancelled.
    ///
    /// Where the system supports it (<doc:Ordering#Priorities>), the present tasks are escalated to the priority of the new task,
    /// also when that priority is raised later. A present task must not await the new task: each would wait for the
    /// other until the new task is cancelled.
    public static var wait: Self { Self(kind: .wait) }

    /// The behavior that starts the new task at once, beside the present tasks. All of these tasks belong to the key:
    /// they are counted and cancelled together.
    public static var runConcurrently: Self { Self(kind: .runConcurrently) }

    /// The behavior that keeps the present task: if the key has one, no new task is created, and the call returns the
    /// present task or a proxy for it.
    ///
    /// If the key has several tasks, the present task is the newest running one, or, if none runs, the newest waiting
    /// one. The search takes O(*n*) in the number of tasks of the key that are newer than the newest running one, or, if
    /// none runs, in the number of all tasks of the key.
    ///
    /// A proxy is a task that waits for the present task and ends when it ends. Cancelling the proxy cancels the
    /// present task. The proxy and the present task do not compare equal. The call returns a proxy in two cases:
    /// - The present task has another type than the call returns: `addTask` is called and `run` created the present
    ///   task, or `run` is called and `addTask` created it.
    /// - Another thread is adding the present task at the same time, so its handle does not exist yet.
    public static var preferPrevious: Self { Self(kind: .preferPrevious) }

    /// The behavior that lets running tasks continue, cancels the tasks that have not begun, and starts the new task when
    /// the running tasks have ended. If all tasks of a key have this behavior, at most one task has not begun: the newest.
    ///
    /// Use it for work that must process the latest state and must not be interrupted, such as saving a document.
    public static var keepLatest: Self { Self(kind: .keepLatest) }

    /// Starts the new task after a quiet time, in which no other task with this behavior is added under the key.
    ///
    /// A newer call with this behavior restarts the quiet time, and the task of the older call is cancelled without
    /// having run, also if its quiet time is over and it has not begun. By default, a running task continues until the
    /// quiet time is over, and is cancelled then. With ``AfterQuietTime/keepLatest``, it is not
    /// cancelled, and the new task starts when it has ended: an autosave waits for a pause, and never interrupts a save.
    ///
    /// - Parameters:
    ///   - quietTime: Measured by the store's clock. If zero or negative, the task starts as soon as it is scheduled.
    ///   - rule: The rule for the running tasks when the quiet time is over.
    public static func debounce(for quietTime: Duration, then rule: AfterQuietTime = .cancelPrevious) -> Self {
        Self(kind: .debounce(quietTime, then: rule))
    }

    /// The rule for the running tasks of a key at the end of a quiet time.
    @nonexhaustive
    public enum AfterQuietTime: Hashable, Sendable {
        /// The running tasks are cancelled, and the new task starts at once.
        case cancelPrevious
        /// The running tasks continue, the older tasks that have not begun are cancelled, and the new task starts when the
        /// running tasks have ended.
        case keepLatest
    }

    /// Starts the new task at once, or, during the interval of an earlier task of the key, at the end of that interval.
    ///
    /// Each task with this behavior begins an interval when it starts. Of the calls during an interval, only the task
    /// of the latest call starts, at the end of the interval; the other tasks are cancelled without having run. A
    /// running task continues until the new task starts, and is then cancelled. Combine's
    /// `throttle(for:scheduler:latest: true)` does the same with values. To start after the calls have stopped, use
    /// ``debounce(for:then:)``.
    ///
    /// - Parameter interval: The length of the interval that the new task begins, measured by the store's clock. If
    ///   zero or negative, there is no interval, and the next task does not wait.
    public static func throttle(for interval: Duration) -> Self { Self(kind: .throttle(interval)) }
}
