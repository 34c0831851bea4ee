@_spi(Observers) internal import TaskControl

/// Decides which waits have lasted for too long, which of them have been reported already, and whether the thread pool
/// begins its tasks in time. A pure value: no lock, task or closure.
///
/// A thread looks at the waits once per limit. In each look it asks, in this order: ``look(at:after:)``, which says how
/// long a wait must have lasted; ``unreported(of:)``, with the waits that have; and ``report(_:stuck:)``, if there are
/// any. Between two looks, the probes begin in the pool: tasks of several priorities that do nothing.
struct HangStateMachine {
    /// One wait of a task or call.
    struct Wait: Hashable {
        let id: TaskEvent.Identity
        /// The sequence number of the event that began the wait: a call may wait more than once.
        let number: UInt64
        let since: Duration
    }

    private enum Probe { case none, posted, overdue }

    /// The decisions of a look.
    struct Look: Equatable {
        /// The time at or before which a wait must have begun to be too long; `nil` if none is.
        var latestBeginning: Duration?
        /// The probes that the pool has not begun within the limit, and that were not reported before.
        var overdue: [Int] = []
        /// The probes that must be sent to the pool now.
        var toPost: [Int] = []
    }

    let limit: Duration
    /// The time before which nothing could run, since the process was stopped; `nil` if that has not happened.
    private var resumed: Duration?
    private var probes: [Probe]
    private(set) var reported: Set<Wait> = []

    init(limit: Duration, probeCount: Int) {
        self.limit = limit
        probes = Array(repeating: .none, count: probeCount)
    }

    // MARK: The pool

    /// Begins a look.
    ///
    /// - Parameters:
    ///   - time: The time of the look.
    ///   - pause: The time since the former look. If it is longer than the limit by a second, the process was stopped or
    ///     the system was asleep: waits are then measured from now on, and nothing is overdue.
    mutating func look(at time: Duration, after pause: Duration) -> Look {
        let wasStopped = pause - .seconds(1) > limit
        if wasStopped { resumed = time }
        var look = Look()
        if resumed.map({ time - $0 >= limit }) ?? true { look.latestBeginning = time - limit }
        for probe in probes.indices {
            switch probes[probe] {
            case .none:
                probes[probe] = .posted
                look.toPost.append(probe)
            case .posted where !wasStopped:
                probes[probe] = .overdue
                look.overdue.append(probe)
            case .posted, .overdue: break
            }
        }
        return look
    }

    /// Records that the pool has begun a probe.
    mutating func probeBegan(_ probe: Int) { probes[probe] = .none }

    // MARK: The waits

    /// Returns those of the waits that have not been reported, and forgets the reported ones that have ended.
    ///
    /// - Parameter waits: All waits that began at or before the ``Look/latestBeginning``.
    mutating func unreported(of waits: [Wait]) -> [Wait] {
        reported.formIntersection(waits)
        return waits.filter { !reported.contains($0) }
    }

    /// Records that waits are reported now.
    ///
    /// - Parameters:
    ///   - waits: The waits that have not been reported.
    ///   - stuck: The tasks and calls that never continue.
    /// - Returns: The waits that end when something else ends, and those that never end: the longest first.
    mutating func report(_ waits: [Wait], stuck: Set<TaskEvent.Identity>) -> (slow: [Wait], hung: [Wait]) {
        reported.formUnion(waits)
        let sorted = waits.sorted { ($0.since, $0.number) < ($1.since, $1.number) }
        return (sorted.filter { !stuck.contains($0.id) }, sorted.filter { stuck.contains($0.id) })
    }
}
