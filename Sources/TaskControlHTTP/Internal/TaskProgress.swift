internal import Foundation

#if canImport(Darwin)
extension Progress {
    /// Calls a closure that starts a task, and returns a progress that cancels this task when the progress is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - totalUnitCount: The number of units of work; negative if it is not known.
    ///   - start: Starts the task, which may update the given progress: the progress that this function returns. Called
    ///     once, before this function returns.
    static func cancelling(totalUnitCount: Int64, _ start: (Progress) -> Task<Void, Never>) -> Progress {
        let progress = Progress(parent: nil)
        // Before the start: the task may be over before the next line.
        progress.totalUnitCount = totalUnitCount
        let task = start(progress)
        // A progress that is cancelled already, as a child of another, calls its handler at once.
        progress.cancellationHandler = { task.cancel() }
        return progress
    }
}
#else
extension Progress {
    /// Calls a closure that starts a task, and returns a progress that cancels this task when the progress is
    /// cancelled.
    ///
    /// - Parameters:
    ///   - totalUnitCount: The number of units of work; negative if it is not known.
    ///   - start: Starts the task, which may update the given progress: the progress that this function returns. Called
    ///     once, before this function returns.
    static func cancelling(totalUnitCount: Int64, _ start: (Progress) -> Task<Void, Never>) -> Progress {
        let progress = TaskProgress(parent: nil)
        // Before the start: the task may be over before the next line.
        progress.totalUnitCount = totalUnitCount
        progress.attach(start(progress))
        return progress
    }
}

/// A progress for platforms other than Apple's, where Foundation's `Progress` takes no lock, and calls its cancellation
/// handler some time after `cancel()` has returned. A `TaskProgress` can be used by several threads at the same time,
/// and has cancelled its task when `cancel()` returns.
///
/// `fractionCompleted` can't be overridden: it reads values without the lock while other threads may write them, so its
/// result may be slightly out of date.
///
/// It is Sendable, like its superclass: a lock protects the members that can be overridden.
private final class TaskProgress: Progress, @unchecked Sendable {
    // Recursive: the superclass's methods call each other.
    private let lock = NSRecursiveLock()
    private var task: Task<Void, Never>?

    func attach(_ task: Task<Void, Never>) {
        lock.withLock { self.task = task }
        if isCancelled { task.cancel() }
    }

    override func cancel() {
        Self.cancellingAfterwards { cancelled in
            lock.withLock {
                super.cancel()
                cancelled.tasks.append(task)
            }
        }
    }

    /// The tasks to cancel, collected while this thread cancels a progress and its children.
    private final class Cancelled {
        var tasks: [Task<Void, Never>?] = []
    }

    /// Calls a function that cancels a progress and its children and collects their tasks, and then cancels those
    /// tasks. A call within such a call only collects: the outermost call cancels the tasks. So no task is cancelled
    /// while a lock is held, although a progress cancels its children under its own lock.
    private static func cancellingAfterwards(_ body: (Cancelled) -> Void) {
        let (key, thread) = ("TaskControlHTTP.TaskProgress", Thread.current)
        if let outer = thread.threadDictionary[key] as? Cancelled { return body(outer) }
        let cancelled = Cancelled()
        thread.threadDictionary[key] = cancelled
        body(cancelled)
        thread.threadDictionary[key] = nil
        for task in cancelled.tasks { task?.cancel() }
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    override var isCancelled: Bool {
        get { lock.withLock { super.isCancelled } }
        set { lock.withLock { super.isCancelled = newValue } }
    }

    override var isIndeterminate: Bool { lock.withLock { super.isIndeterminate } }

    override var isFinished: Bool { lock.withLock { super.isFinished } }

    override var cancellationHandler: (@Sendable () -> Void)? {
        get { lock.withLock { super.cancellationHandler } }
        set { lock.withLock { super.cancellationHandler = newValue } }
    }

    override func addChild(_ child: Progress, withPendingUnitCount units: Int64) {
        // A progress that is cancelled cancels the child here.
        Self.cancellingAfterwards { _ in lock.withLock { super.addChild(child, withPendingUnitCount: units) } }
    }
}
#endif
