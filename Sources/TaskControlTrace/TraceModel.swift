internal import TaskControl
internal import TaskControlSupport

/// The content of a trace: groups of lanes, one group per owner, and in the lanes one bar per subject.
///
/// Times are in nanoseconds from the first event on, in 64 bits on every platform.
struct TraceModel: Sendable {
    /// The outcome of a subject, if it has ended.
    enum Outcome: Int, Sendable, CaseIterable {
        case completed
        case failed
        case timedOut
        /// Cancelled before or while it ran, or while it waited.
        case cancelled
        /// Its end is not in the recording.
        case unfinished

        /// - Parameter hasThrown: Whether the work threw an error although the task has completed, since its owner handles errors.
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

    /// A subject, from its beginning to its end.
    struct Bar: Sendable {
        var primitive: TaskEvent.Primitive
        let subject: TaskEvent.Identity
        var group = -1
        var lane = 0
        var begin: Int64
        var end: Int64
        var outcome = Outcome.unfinished
        /// Its beginning is not in the recording.
        var beganEarlier = true
        /// The age that its last event states; longer than the bar if it began earlier.
        var age: Int64?
        /// The kinds of its first and last event.
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
        /// Its phases, each with its beginning; before the first one the phase is unknown.
        var segments: [Segment] = []
        var marks: [Mark] = []
    }

    struct Segment: Sendable, Equatable {
        var begin: Int64
        var phase: TaskEvent.Phase
    }

    /// Something that happened to a subject or an owner at a moment.
    struct Mark: Sendable {
        var time: Int64
        var kind: TaskEvent.Kind
        /// The index of the bar that caused it; -1 if that is unknown.
        var by = -1
        /// The error, the key or the place.
        var text: String?
        var number: Int?
    }

    /// An owner, or the calls of a primitive that have no owner.
    struct Group: Sendable {
        var primitive: TaskEvent.Primitive
        var owner: TaskEvent.Identity?
        var name: String?
        var marks: [Mark] = []
        var laneCount = 0
        /// Its bars, in the order of their beginnings.
        var bars = 0..<0

        /// The title of a group, such as `FIFOQueue "downloads" #7`.
        var title: String {
            guard let owner else { return primitive.rawValue }
            return name.map { "\(primitive.rawValue) \"\($0)\" \(owner)" } ?? "\(primitive.rawValue) \(owner)"
        }
    }

    var groups: [Group] = []
    var bars: [Bar] = []
    /// The number of events in it, and the number of older events that were dropped.
    var eventCount = 0
    var lost = 0
    /// The length of the recording.
    var length: Int64 = 0

    /// Folds events into bars.
    ///
    /// - Parameter now: The current time of events, if it is known: bars that have not ended extend until then.
    /// - Complexity: O(*n* log *n*).
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
    /// The label for people.
    var label: String {
        // The name of a flight is that of its first caller, and the name of a request that of the task that sends it.
        let own: String? =
            if [.withSingleFlight, .singleFlight, .cachedFlight].contains(primitive) {
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

    /// The segments with their ends, without the empty ones.
    var stretches: [(phase: TaskEvent.Phase, range: Range<Int64>)] {
        segments.indices.compactMap { index in
            let end = index + 1 < segments.count ? segments[index + 1].begin : end
            return end > segments[index].begin ? (segments[index].phase, segments[index].begin..<end) : nil
        }
    }
}
