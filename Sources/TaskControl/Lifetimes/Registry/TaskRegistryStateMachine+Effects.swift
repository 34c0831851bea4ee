extension TaskRegistryStateMachine {
    /// What the storage must do when the lock is free. Each event adds its effects to those that the caller passes.
    ///
    /// Not copyable, because a copy retains whatever is in it, and there is one for each event.
    struct Effects: ~Copyable {
        /// What concerns other tasks, and cancellation.
        struct Lists {
            /// Waiters to resume.
            var waking: [Waiter] = []
            /// Tasks to cancel, the oldest of a lane first.
            var cancelling: [Job] = []
            /// Entries that were live and no longer are, without having finished.
            var retired: [ID] = []
            /// An interval that has begun, and its length.
            var interval: (id: IntervalID, time: Duration)?
        }

        /// `nil` for most events: three empty arrays would be three releases per event.
        private(set) var lists: Lists?
        /// Entries added, without those retired and finished.
        var liveCountChange: Int32 = 0
        /// The priority to which the task that was attached must be raised; 0: none.
        var raisingTo: UInt8 = 0
        /// A task and a key of the user, which must be released with the lock free.
        var released: (job: Job?, key: Key?)

        mutating func wake(_ waiters: [Waiter]) {
            if !waiters.isEmpty { change { $0.waking += waiters } }
        }

        mutating func wake(_ waiter: Waiter?) {
            if let waiter { change { $0.waking.append(waiter) } }
        }

        /// - Parameter job: `nil`: the task is being created, and `attach` cancels it.
        mutating func cancel(_ job: Job?) {
            if let job { change { $0.cancelling.append(job) } }
        }

        mutating func retire(_ id: ID) {
            change { $0.retired.append(id) }
        }

        mutating func begin(_ id: IntervalID, lasting time: Duration) {
            change { $0.interval = (id, time) }
        }

        var cancellingCount: Int { lists?.cancelling.count ?? 0 }

        /// For a lane that was walked from its newest entry.
        ///
        /// - Parameter former: The number of tasks to cancel before that walk.
        mutating func reverseCancelling(after former: Int) {
            lists?.cancelling[former...].reverse()
        }

        private mutating func change(_ body: (inout Lists) -> Void) {
            if lists == nil { lists = Lists() }
            body(&lists!)
        }
    }
}
