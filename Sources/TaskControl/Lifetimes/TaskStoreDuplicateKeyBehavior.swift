/// What a `TaskStore` does with a new task whose key has tasks already.
///
/// | | what is there | the new task |
/// |---|---|---|
/// | ``cancelPrevious(wait:)`` | is cancelled | starts at once, or when it has ended |
/// | ``wait`` | goes on | starts when it has ended |
/// | ``runConcurrently`` | goes on | starts at once |
/// | ``preferPrevious-type.property`` | goes on | is not made |
/// | ``keepLatest`` | what runs goes on, what waits is cancelled | starts when what runs has ended |
/// | ``debounce(for:)`` | goes on until the new one starts, and is cancelled then | starts after a quiet time |
/// | ``throttle(for:)`` | goes on until the new one starts, and is cancelled then | starts at once, or when an interval has passed since the last start |
///
/// A task that was cancelled but has not ended yet neither stands for its key nor keeps a new task from starting, except under the
/// behaviors that wait for what is there to end: those wait also for cancelled tasks that have begun. A task that was cancelled before it began
/// never runs, and holds up no other.
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

    /// Cancels what runs and what waits under the key, and starts the new task.
    ///
    /// - Parameter wait: Whether the new task starts only when all that was cancelled has ended. Otherwise they may overlap.
    public static func cancelPrevious(wait: Bool) -> Self { Self(kind: .cancelPrevious(wait: wait)) }

    /// Starts the new task when all that is there has ended, in the order of the calls. Cancels nothing.
    ///
    /// What it waits for is raised to its priority, also when that rises later, where the system can (macOS 26, Linux). A task of the
    /// key must not await the new one: it would wait for itself, until the new one is cancelled.
    public static var wait: Self { Self(kind: .wait) }

    /// Starts the new task at once, beside what is there. All of them belong to the key: they are counted and cancelled together.
    public static var runConcurrently: Self { Self(kind: .runConcurrently) }

    /// Keeps what is there and makes no new task; the call returns the task that is there.
    ///
    /// Of several that is the newest that runs, or, if none does, the newest that waits. One that another thread is adding at this very
    /// moment is stood for by a task that ends when it ends and, if cancelled, cancels it; the two are not equal.
    public static var preferPrevious: Self { Self(kind: .preferPrevious) }

    /// Lets what runs go on; of those that wait, only the newest stays, and the others are cancelled.
    ///
    /// For work that must see the latest state without being interrupted, such as saving a document.
    public static var keepLatest: Self { Self(kind: .keepLatest) }

    /// Starts the new task after a quiet time, in which no other call with this behavior has come for the key.
    ///
    /// A newer call restarts the time, and the task of the older one is cancelled without having run. What runs goes on until the quiet
    /// time is over and is cancelled when the new task starts.
    ///
    /// - Parameter quietTime: Measured by the store's clock. Not positive: the task starts as soon as it is scheduled.
    public static func debounce(for quietTime: Duration) -> Self { Self(kind: .debounce(quietTime)) }

    /// Starts the new task at once, or, if a task with this behavior has started under the key within the interval, when the interval has passed.
    ///
    /// Of the calls within an interval, only the task of the latest one starts, at the end of it; the others are cancelled without having run. A running task
    /// goes on until the new one starts, and is cancelled then. The interval begins when a task starts, and has the length that was given for that task.
    /// Combine's `throttle(for:scheduler:latest: true)` does the same with values. To start after the calls have stopped, use ``debounce(for:)``.
    ///
    /// - Parameter interval: Measured by the store's clock. If zero or negative, the next task need not wait.
    public static func throttle(for interval: Duration) -> Self { Self(kind: .throttle(interval)) }

    // MARK: What it says

    /// Whether no new task is created while the key has one.
    public var preferPrevious: Bool { kind == .preferPrevious }

    /// Whether the key's running task is cancelled: now, or when the new task starts.
    public var cancelPrevious: Bool {
        switch kind {
        case .cancelPrevious, .debounce, .throttle: true
        case .wait, .runConcurrently, .preferPrevious, .keepLatest: false
        }
    }

    /// Whether the new task, if there is one, starts only when the key's running task has ended.
    public var waitForPrevious: Bool {
        switch kind {
        case .cancelPrevious(let wait): wait
        case .wait, .keepLatest, .preferPrevious: true
        case .runConcurrently, .debounce, .throttle: false
        }
    }

    /// Whether a new task is created although the key has one.
    public var runNewTask: Bool { !preferPrevious }
}
