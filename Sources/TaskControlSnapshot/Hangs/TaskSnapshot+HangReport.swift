public import TaskControl

extension TaskSnapshot {
    /// A report of waits that have lasted for longer than a limit, or of a thread pool that begins no tasks: see
    /// ``TaskSnapshot/reportHangs(after:to:)``.
    public struct HangReport: Sendable, Hashable {
        /// The judgment about the waits of a report, or about the thread pool.
        @nonexhaustive
        public enum Verdict: String, Sendable, Hashable, Codable, CaseIterable {
            /// The waits may end: what they wait for still runs, such as a call of a slow server, or may be ended by
            /// code that the snapshot does not show, such as the holder of a permit of `acquire()`.
            case slow
            /// The waits never end, unless something in them is cancelled: they are in a circle, or wait for a task or
            /// call in a circle.
            case hung
            /// The thread pool has begun none of its new tasks within the limit: its threads are blocked or busy.
            case starved
        }

        /// The judgment about the ``waits``, or about the thread pool.
        public let verdict: Verdict
        /// The limit that was exceeded.
        public let limit: Duration
        /// The tasks and calls that have waited for longer than the limit, or whose callers have: the longest wait
        /// first. Empty if the thread pool is ``Verdict/starved``.
        public let waits: [TaskEvent.Identity]
        /// The first of the ``waits``, at most 100, with all that they wait for, directly or indirectly, and with their
        /// owners. If the thread pool is ``Verdict/starved``: the tasks that run or wait for a thread, at most 100.
        public let snapshot: TaskSnapshot
    }
}

extension TaskSnapshot.HangReport: CustomStringConvertible {
    /// The report as a text: a sentence, and the description of the ``snapshot`` in the following lines.
    public var description: String { "\(sentence)\n\(snapshot)" }

    var sentence: String {
        let waits = waits.count == 1 ? "1 wait has" : "\(waits.count) waits have"
        return switch verdict {
        case .slow: "Slow: \(waits) lasted for more than \(limit), for work that runs or for an unknown holder"
        case .hung: "Hung: \(waits) lasted for more than \(limit), and cannot end"
        case .starved: "Starved: the thread pool has begun no new task of some priority for more than \(limit)"
        }
    }
}

extension TaskEvent.Primitive {
    /// The primitive in the events of ``TaskSnapshot/reportHangs(after:to:)``.
    public static var taskSnapshot: Self { Self(rawValue: "TaskSnapshot") }
}

extension TaskEvent.Kind {
    /// Waits have lasted for longer than a limit, and may end: ``TaskSnapshot/HangReport/Verdict/slow``.
    public static var slow: Self { Self(rawValue: "slow") }
    /// Waits have lasted for longer than a limit, and never end: ``TaskSnapshot/HangReport/Verdict/hung``.
    public static var hung: Self { Self(rawValue: "hung") }
    /// The thread pool has begun none of its new tasks within a limit: ``TaskSnapshot/HangReport/Verdict/starved``.
    public static var starved: Self { Self(rawValue: "starved") }
}
