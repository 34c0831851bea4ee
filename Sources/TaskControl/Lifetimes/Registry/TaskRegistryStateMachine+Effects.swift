extension TaskRegistryStateMachine {
    /// The actions for the storage when the lock is free. Each event adds its effects to those that the caller passes.
    ///
    /// Not copyable, because a copy retains whatever is in it, and there is one for each event.
    struct Effects: ~Copyable {
        /// The effects on other tasks, and of cancellation. An object, since most events have none: a reference that is `nil` costs next to nothing.
        final class Lists {
            /// Waiters to resume.
            fileprivate(set) var waking: [Waiter] = []
            /// Tasks to cancel, the oldest of a lane first.
            fileprivate(set) var cancelling: [Job] = []
            /// Entries that were live and no longer are, without having finished.
            fileprivate(set) var retired: [ID] = []
            /// Timers to cancel, which have no owner that could cancel them for a cause.
            fileprivate(set) var stopping: [Job] = []
            /// An interval that has begun, and its length.
            fileprivate(set) var interval: (id: IntervalID, time: Duration)?
        }

        /// `nil` for most events.
        private(set) var lists: Lists?
        /// Entries added, without those retired and finished.
        var liveCountChange: Int32 = 0
        /// The priority to which the task that was attached must be raised; 0: none.
        var raisingTo: UInt8 = 0

        mutating func wake(_ waiters: [Waiter]) {
            if !waiters.isEmpty { list().waking += waiters }
        }

        mutating func wake(_ waiter: Waiter?) {
            if let waiter { list().waking.append(waiter) }
        }

        /// - Parameter job: `nil`: the task is being created, and `attach` cancels it.
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

        /// For a lane that was walked from its newest entry.
        ///
        /// - Parameter former: The number of tasks to cancel before that walk.
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
