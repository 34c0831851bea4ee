extension TaskRegistryStateMachine {
    enum Phase: UInt8 {
        case waiting, quiet
        /// Waits for the end of the interval of its lane.
        case throttled
        /// Waited for an interval when its own task was cancelled, which has not gone on yet.
        case leaving
        /// Free to start; its task has not asked `begin` yet.
        case starting
        /// The body of a task that begins an interval may run.
        case admitted
        case running, cancelled, skipped
        /// Skipped by the cancellation of its own task, which reports that when it is resumed.
        case left

        var isLive: Bool { rawValue <= Phase.running.rawValue }
        var isLinked: Bool { rawValue <= Phase.cancelled.rawValue }
    }

    /// A registered task. Packed, because there may be a million of them.
    struct Entry: Ticketed, Linked {
        /// `Chain.none`: it has no key.
        let lane: Slot
        var links = Links()
        var job: Job?
        /// 48 bits of serial, 8 of priority, 8 of phase.
        private var packed: UInt64

        init(serial: UInt64, lane: Slot, job: Job?, phase: Phase) {
            self.lane = lane
            self.job = job
            packed = serial << 16 | UInt64(phase.rawValue)
        }

        var serial: UInt64 { packed >> 16 }

        /// The priority to which a waiting task has raised the entry and all that is before it in its lane. 0: none.
        var raisedTo: UInt8 {
            get { UInt8(truncatingIfNeeded: packed >> 8) }
            set { packed = packed & ~0xFF00 | UInt64(newValue) << 8 }
        }

        var phase: Phase {
            get { Phase(rawValue: UInt8(truncatingIfNeeded: packed))! }
            set { packed = packed & ~0xFF | UInt64(newValue.rawValue) }
        }
    }

    /// The part of an entry that few have.
    struct Side {
        /// The task itself, parked until its turn.
        var parked: Waiter?
        /// Waiters for the handle of the task, which is being created.
        var followers: [Waiter] = []
        /// The quiet time of a task, or the interval that it begins.
        var time: Duration?
    }
}
