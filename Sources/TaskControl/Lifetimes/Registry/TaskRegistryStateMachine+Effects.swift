extension TaskRegistryStateMachine {
    /// The actions that the storage (the ``TaskRegistry``) must carry out after it has released the lock. Each function
    /// of the machine adds its actions to the value that the caller passes.
    ///
    /// Not copyable, because copying this value would retain its contents, and a value is created for each event of a
    /// task.
    struct Effects: ~Copyable {
        /// The actions that concern tasks other than the one for which the machine was called. An object, because most
        /// calls request no such actions: a reference that is `nil` costs almost nothing.
        final class Lists {
            /// The waiters to resume.
            fileprivate(set) var waking: [Waiter] = []
            /// The tasks to cancel; among the tasks of one key, the oldest first.
            fileprivate(set) var cancelling: [Job] = []
            /// The tasks that the machine has recorded as cancelled in this call. They have not finished.
            fileprivate(set) var retired: [ID] = []
            /// The timer tasks to cancel. No cause of their cancellation is recorded.
            fileprivate(set) var stopping: [Job] = []
            /// The interval of the behavior `throttle` that has begun in this call, and its length. The storage must
            /// create the timer of the interval; `nil` if no interval has begun.
            fileprivate(set) var interval: (id: IntervalID, time: Duration)?
        }

        /// The actions that concern tasks other than the one for which the machine was called; `nil` if there are none.
        private(set) var lists: Lists?
        /// The change of the number of live tasks: the number of those that were added, minus the number of those that
        /// were cancelled or that finished without having been cancelled.
        var liveCountChange: Int32 = 0
        /// Whether a task that has waited may start or has begun.
        var startsWaitingTask = false
        /// The raw priority to which the task whose handle `attach` has stored must be escalated; 0 for none.
        var raisingTo: UInt8 = 0

        mutating func wake(_ waiters: [Waiter]) {
            if !waiters.isEmpty { list().waking += waiters }
        }

        mutating func wake(_ waiter: Waiter?) {
            if let waiter { list().waking.append(waiter) }
        }

        /// Adds a task to cancel.
        ///
        /// - Parameter job: The handle of the task; `nil` if the task is being created: `attach` then cancels it.
        mutating func cancel(_ job: Job?) {
            if let job { list().cancelling.append(job) }
        }

        mutating func stop(_ timer: Job?) {
            if let timer { list().stopping.append(timer) }
        }

        mutating func retire(_ id: ID) {
            list().retired.append(id)
        }

        mutating func begin(_ id: IntervalID, lasting time: Duration) {
            list().interval = (id, time)
        }

        var cancellingCount: Int { lists?.cancelling.count ?? 0 }

        /// Reverses the order of the tasks to cancel that a search from the newest task of a key to its oldest has
        /// added: the oldest task is then cancelled first.
        ///
        /// - Parameter former: The number of tasks to cancel that were added before the search. Their order is kept.
        mutating func reverseCancelling(after former: Int) {
            lists?.cancelling[former...].reverse()
        }

        private mutating func list() -> Lists {
            if let lists { return lists }
            let new = Lists()
            lists = new
            return new
        }
    }
}
