extension TaskRegistryStateMachine {
    enum Phase: UInt8 {
        case waiting, quiet
        /// A task with the behavior `throttle` that waits for the end of the interval of its key.
        case throttled
        /// A task that may start under its key, and waits for a permit of the registry's ``Limit``.
        case queued
        /// A task that waited for an interval or a permit, and whose own handle was cancelled. It has been resumed, but has not
        /// called `begin` again.
        case leaving
        /// A task that may start, and has not called `begin` yet. A task without a key that does not call `begin` keeps
        /// this phase while it runs.
        case starting
        /// A task that may start, and cancels the older tasks of its key when it calls `begin`: one with the behavior
        /// `throttle`, which then also begins an interval, or one with the behavior `debounce` that was `queued`.
        case admitted
        case running, cancelled, skipped
        /// A task that waited for older tasks of its key, and whose own handle was cancelled. It will never run, and
        /// reports its cancellation when it has been resumed.
        case left

        var isLive: Bool { rawValue <= Phase.running.rawValue }
        /// Whether the task waits to start: for older tasks, for a quiet time, for the end of an interval, or for a permit.
        var waits: Bool { rawValue <= Phase.leaving.rawValue }
        /// Whether the task waits to start, and was not cancelled.
        var isReplaceable: Bool { rawValue < Phase.leaving.rawValue }
        /// Whether the task has a permit, if the registry has a limit.
        var hasPermit: Bool { !waits && isLinked }
        var isLinked: Bool { rawValue <= Phase.cancelled.rawValue }
    }

    /// A registered task. Packed into few words, because a registry may contain a million entries.
    struct Entry: Ticketed, Linked {
        /// The slot of the ``Lane`` of the task's key; `Chain.none` if the task has no key.
        let lane: Slot
        var links = Links()
        var job: Job?
        /// The serial number (48 bits), the priority `raisedTo` (8 bits), and the phase (8 bits).
        private var packed: UInt64

        init(serial: UInt64, lane: Slot, job: Job?, phase: Phase) {
            self.lane = lane
            self.job = job
            packed = serial << 16 | UInt64(phase.rawValue)
        }

        var serial: UInt64 { packed >> 16 }

        /// The raw priority to which the task was escalated through the registry; 0 for none.
        var raisedTo: UInt8 {
            get { UInt8(truncatingIfNeeded: packed >> 8) }
            set { packed = packed & ~0xFF00 | UInt64(newValue) << 8 }
        }

        var phase: Phase {
            get { Phase(rawValue: UInt8(truncatingIfNeeded: packed))! }
            set { packed = packed & ~0xFF | UInt64(newValue.rawValue) }
        }
    }

    /// The properties that only few entries have, stored apart from ``Entry``.
    struct Side {
        /// The continuation of the task, while the task waits for older tasks of its key, for an interval, or for a permit.
        var parked: Waiter?
        /// The waiters for the handle of the task, while the task is being created.
        var followers: [Waiter] = []
        /// The quiet time of a task with the behavior `debounce`, or the length of the interval of a task with the
        /// behavior `throttle`; `nil` for other tasks.
        var time: Duration?
        /// The rule for the running tasks at the end of the quiet time of a task with the behavior `debounce`; `nil` for
        /// other tasks.
        var afterQuietTime: TaskStoreDuplicateKeyBehavior.AfterQuietTime?
        /// The request of a `queued` task for a permit.
        var permit: PermitStateMachine<Slot>.ID?
        /// The priority to which the tasks before a `queued` task were escalated, for this task or for one behind it.
        var raisedLineTo: UInt8 = 0

        /// Whether the task cancels the older tasks of its key when it begins.
        var cancelsOlder: Bool { time != nil && afterQuietTime != .keepLatest }
    }
}
