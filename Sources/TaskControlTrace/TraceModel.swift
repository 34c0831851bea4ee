@_spi(Observers) internal import TaskControl
internal import _TaskControlShared

/// The content of a trace: one group of lanes per owner and, in the lanes, one bar per task or call (subject).
///
/// Times are in nanoseconds since the first event, in 64 bits on every platform.
struct TraceModel: Sendable {
    /// The outcome of a task or call (subject).
    enum Outcome: Int, Sendable, CaseIterable {
        case completed
        case failed
        case timedOut
        /// The task or call was cancelled, before or while it ran.
        case cancelled
        /// The end of the task or call is not in the recording.
        case unfinished

        /// Creates the outcome of a bar from the outcome in an event.
        ///
        /// - Parameters:
        ///   - outcome: The outcome in the last event of the task or call.
        ///   - isCancelled: Whether the task or call was cancelled before it ended.
        ///   - hasThrown: Whether the work threw an error, even if its owner has handled the error and the event
        ///     therefore has the outcome `completed`.
        init(_ outcome: TaskEvent.Outcome, isCancelled: Bool, hasThrown: Bool) {
            switch outcome {
            case .timedOut: self = .timedOut
            case .cancelled, .skipped: self = .cancelled
            case _ where isCancelled: self = .cancelled
            case .failed: self = .failed
            case .completed: self = hasThrown ? .failed : .completed
            @unknown default: self = hasThrown ? .failed : .completed
            }
        }
    }

    /// The bar of a task or call (subject), from its beginning to its end.
    struct Bar: Sendable {
        var primitive: TaskEvent.Primitive
        let subject: TaskEvent.Identity
        var group = -1
        var lane = 0
        var begin: Int64
        var end: Int64
        var outcome = Outcome.unfinished
        /// Whether the task or call (subject) began before the recording.
        var beganEarlier = true
        /// The age of the task or call (subject) at its end, in nanoseconds; `nil` if it is unknown. It is greater than
        /// the length of the bar if the subject began before the recording.
        var age: Int64?
        /// The kinds of the first and the last event of the task or call; `nil` if they are not in the recording.
        var first: TaskEvent.Kind?
        var last: TaskEvent.Kind?
        var name: String?
        var key: String?
        var error: String?
        var detail: String?
        var count: Int?
        var attempt: Int?
        var status: Int?
        var delay: Int64?
        /// The phases of the task or call, each with its beginning. Before the first of them, the phase is unknown.
        var segments: [Segment] = []
        var marks: [Mark] = []
    }

    struct Segment: Sendable, Equatable {
        var begin: Int64
        var phase: TaskEvent.Phase
    }

    /// An event at a single point in time that concerns a task or call, or an owner.
    struct Mark: Sendable {
        var time: Int64
        var kind: TaskEvent.Kind
        /// The index in ``TraceModel/bars`` of the bar whose task has caused the event; -1 if it is unknown.
        var by = -1
        /// The error, the key or the detail of the event; `nil` if the event has none, or if the bar shows it.
        var text: String?
        var number: Int?
    }

    /// The lanes and marks of an owner, or of the calls of a primitive (a type or function of TaskControl) that have no
    /// owner.
    struct Group: Sendable {
        var primitive: TaskEvent.Primitive
        var owner: TaskEvent.Identity?
        var name: String?
        var marks: [Mark] = []
        var laneCount = 0
        /// The indices of the group's bars in ``TraceModel/bars``. The bars are in the order of their beginnings.
        var bars = 0..<0

        /// The title of the group, such as `FIFOQueue "downloads" #7`.
        var title: String {
            guard let owner else { return primitive.rawValue }
            return name.map { "\(primitive.rawValue) \"\($0)\" \(owner)" } ?? "\(primitive.rawValue) \(owner)"
        }
    }

    var groups: [Group] = []
    var bars: [Bar] = []
    /// The number of recorded events, and the number of older events that were dropped.
    var eventCount = 0
    var lost = 0
    /// The duration of the recording, in nanoseconds.
    var length: Int64 = 0

    /// Creates the model of recorded events.
    ///
    /// - Parameters:
    ///   - events: The recorded events.
    ///   - now: The current time on the clock of the events; `nil` for the time of the latest event. Bars of tasks and
    ///     calls that have not ended extend to this time.
    /// - Complexity: O(*n* log *n*) in the number of events.
    init(_ events: TraceRing.Copy, now: Duration? = nil) {
        var fold = TraceFold()
        for chunk in events.chunks {
            for record in chunk { fold.add(record) }
        }
        self = fold.model(now: now?.nanoseconds)
        eventCount = events.count
        lost = events.lost
    }

    init() {}
}

extension TraceModel.Bar {
    /// The label that the trace shows for the bar, such as a name, a key, an HTTP request, or the identity of the task
    /// or call.
    var label: String {
        // The name of a flight is that of its first caller, and the name of a request that of the task that sends it.
        let own: String? =
            if [.withSingleFlight, .singleFlight].contains(primitive) || primitive.rawValue == "CachedFlight" {
                key
            } else if primitive.rawValue == "HTTP" {
                detail
            } else {
                nil
            }
        if let text = own ?? name ?? key ?? detail { return text }
        return switch first {
        case .draining: "drain"
        case let first? where first.isSecondary: "refresh"
        default: primitive == .asyncSemaphore ? "permit" : "\(subject)"
        }
    }

    /// The phases of the task or call (waiting and running) with their beginnings and ends in nanoseconds, without
    /// phases of zero length.
    var stretches: [(phase: TaskEvent.Phase, range: Range<Int64>)] {
        segments.indices.compactMap { index in
            let end = index + 1 < segments.count ? segments[index + 1].begin : end
            return end > segments[index].begin ? (segments[index].phase, segments[index].begin..<end) : nil
        }
    }
}

extension TraceModel.Mark {
    /// Whether the mark only reports that an owner was created or deallocated.
    var isOfAnInstance: Bool { kind == .created || kind == .deallocated }
}

extension TraceModel {
    /// Makes all times relative to the beginning of the recording, sets ``length``, and updates the references to bars
    /// to their final positions.
    ///
    /// - Parameters:
    ///   - earliest: The time at which the recording begins.
    ///   - latest: The time at which the recording ends.
    ///   - places: For each draft of a bar (the references contain its index), the final index of the bar; -1 if the
    ///     draft has become no bar.
    mutating func shift(to earliest: Int64, _ latest: Int64, _ places: [Int]) {
        func shifted(_ mark: Mark) -> Mark {
            var mark = mark
            mark.time -= earliest
            mark.by = mark.by < 0 ? -1 : places[mark.by]
            return mark
        }
        for index in bars.indices {
            bars[index].begin -= earliest
            bars[index].end -= earliest
            for segment in bars[index].segments.indices { bars[index].segments[segment].begin -= earliest }
            if !bars[index].marks.isEmpty { bars[index].marks = bars[index].marks.map(shifted) }
        }
        for index in groups.indices { groups[index].marks = groups[index].marks.map(shifted) }
        length = latest - earliest
    }
}
