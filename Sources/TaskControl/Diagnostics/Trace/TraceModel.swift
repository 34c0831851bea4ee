/// What a trace shows: groups of lanes, one group an owner, and in the lanes bars, one a subject.
///
/// Times are in nanoseconds from the first event on, in 64 bits on every platform.
struct TraceModel: Sendable {
    /// What became of a subject.
    enum Outcome: Int, Sendable, CaseIterable {
        case completed
        case failed
        case timedOut
        /// Cancelled before or while it ran, or it left.
        case cancelled
        /// There was no end to it in the recording.
        case unfinished
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
        /// As an event told it at the end; longer than the bar if it began earlier.
        var age: Int64?
        /// What begun and ended it.
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
        /// What it did, from when on; before the first of them that is not known.
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
        /// The index of the bar that did it, if that is known; of others, -1.
        var by = -1
        /// The error, the key or the place.
        var text: String?
        var number: Int?
    }

    /// An owner; or the calls of a primitive that have none.
    struct Group: Sendable {
        var primitive: TaskEvent.Primitive
        var owner: TaskEvent.Identity?
        var name: String?
        var marks: [Mark] = []
        var laneCount = 0
        /// Which of the bars are its own: in the order of their beginnings.
        var bars = 0..<0

        /// As in `FIFOQueue "downloads" #7`.
        var title: String {
            guard let owner else { return primitive.rawValue }
            return name.map { "\(primitive.rawValue) \"\($0)\" \(owner)" } ?? "\(primitive.rawValue) \(owner)"
        }
    }

    var groups: [Group] = []
    var bars: [Bar] = []
    /// How many events are in it, and how many fell out of the ring before them.
    var eventCount = 0
    var lost = 0
    /// How long the recording is.
    var length: Int64 = 0

    /// Folds events into bars.
    ///
    /// - Parameter now: The time of events by now, if it is known: how long what has not ended has been there.
    /// - Complexity: O(*n* log *n*).
    init(_ events: TraceRing.Copy, now: Duration? = nil) {
        var fold = TraceFold()
        for chunk in events.chunks {
            for event in chunk { fold.add(event) }
        }
        self = fold.model(now: now)
        eventCount = events.count
        lost = events.lost
    }

    init() {}
}

extension TraceModel.Bar {
    /// By what a person knows it.
    var label: String {
        // Of what is shared, the name is that of the caller who came first.
        let isFlight = primitive == .withSingleFlight || primitive == .singleFlight
        if let text = isFlight ? key ?? name : name ?? key ?? detail { return text }
        return switch first {
        case .draining: "drain"
        case .refreshing: "refresh"
        default: primitive == .asyncSemaphore ? "permit" : "\(subject)"
        }
    }

    /// Its segments with their ends, and without those that took no time.
    var stretches: [(phase: TaskEvent.Phase, range: Range<Int64>)] {
        segments.indices.compactMap { index in
            let end = index + 1 < segments.count ? segments[index + 1].begin : end
            return end > segments[index].begin ? (segments[index].phase, segments[index].begin..<end) : nil
        }
    }
}
