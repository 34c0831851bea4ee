/// What has happened in one exchange of a session, who waits for what, and what is to be done on the wire.
///
/// ```
///  wire     idle ── start ─▶ starting ── didStart ─▶ running ── end ─▶ over
///                                │                    │                 ▲
///                                └─ (gone) didStart ──┴── gone: cancel ─┘
///  reader   reading ── cancel ─▶ gone(.cancelled)
///                   ── leave ──▶ gone(.left)
/// ```
///
/// 1. The wire is cancelled at most once, and only between `didStart` and `end`.
/// 2. The reader gets the head, then the parts in their order, then the end or one failure; once gone, only why it is gone.
/// 3. A waiter that was parked is handed out once: when there is something for it, or when the reader is gone.
///
/// One waits at a time: for the head, or for the next part. It is only woken, and then asks again.
struct ExchangeStateMachine<Head, Part, Waiter> {
    /// Why there is nothing more.
    enum Failure {
        case network(any Error)
        /// What arrived is not HTTP.
        case malformed
        case cancelled
        case left
    }

    /// What is to be done about the wire.
    enum Wire { case cancel, pause, proceed }

    /// What is to be done, in this order.
    struct Action {
        var wake: Waiter?
        var wire: Wire?
    }

    enum Asked<Value> {
        case value(Value)
        case end
        case wait
        case failure(Failure)
    }

    private enum WireState { case idle, starting, running, paused, cancelled, over }
    private enum Outcome {
        case open, whole
        case broken(Failure)
    }

    private var wire = WireState.idle
    private var outcome = Outcome.open
    private var gone: Failure?
    private var head: Head?
    private var hasHead = false
    private var parts = Parts<Part>()
    private var waiter: Waiter?
    /// How many bytes may wait for the reader before the wire is paused, if it can be.
    private let limit: Int?

    init(limit: Int?) {
        self.limit = limit
    }

    /// Whether what is sent and what arrives is still anybody's business.
    var isOpen: Bool {
        if case .open = outcome { gone == nil } else { false }
    }

    /// Whether the wire is to rest.
    var isPaused: Bool {
        if case .paused = wire { true } else { false }
    }

    // MARK: What the caller does

    /// - Returns: Whether to start; not if the caller is gone already.
    mutating func start() -> Bool {
        guard case .idle = wire, gone == nil else { return false }
        wire = .starting
        return true
    }

    mutating func didStart() -> Action {
        guard case .starting = wire else { return Action() }
        wire = .running
        return gone != nil || !isOpen ? Action(wire: cancelWire()) : Action()
    }

    mutating func takeHead() -> Asked<Head> {
        if let gone { return .failure(gone) }
        if let head = head.take() { return .value(head) }
        guard case .broken(let failure) = outcome else { return .wait }
        return .failure(failure)
    }

    /// - Returns: Also whether the wire may proceed.
    mutating func takePart() -> (Asked<Part>, Wire?) {
        if let gone { return (.failure(gone), nil) }
        if let part = parts.removeFirst() {
            guard case .paused = wire, let limit, parts.bytes <= limit / 2 else { return (.value(part), nil) }
            wire = .running
            return (.value(part), .proceed)
        }
        return switch outcome {
        case .open: (.wait, nil)
        case .whole: (.end, nil)
        case .broken(let failure): (.failure(failure), nil)
        }
    }

    /// - Returns: The waiter, if there is something for it by now.
    mutating func park(_ waiter: Waiter) -> Waiter? {
        precondition(self.waiter == nil, "The body of a response has one reader.")
        guard isOpen, head == nil, parts.isEmpty else { return waiter }
        self.waiter = waiter
        return nil
    }

    mutating func cancel() -> Action { go(.cancelled) }

    mutating func leave() -> Action { go(.left) }

    private mutating func go(_ why: Failure) -> Action {
        guard gone == nil else { return Action() }
        gone = why
        head = nil
        parts = Parts()
        return Action(wake: waiter.take(), wire: cancelWire())
    }

    // MARK: What the session says

    mutating func receive(head: Head) -> Action {
        guard isOpen, !hasHead else { return Action() }
        hasHead = true
        self.head = head
        return Action(wake: waiter.take())
    }

    /// A head that nothing is to follow: what else the session would do is not wanted.
    ///
    /// - Parameter head: `nil`: the one that is there.
    mutating func receiveLast(head: Head?) -> Action {
        guard isOpen else { return Action() }
        if let head, !hasHead {
            hasHead = true
            self.head = head
        }
        outcome = hasHead ? .whole : .broken(.malformed)
        return Action(wake: waiter.take(), wire: cancelWire())
    }

    mutating func receive(part: Part, bytes: Int) -> Action {
        guard isOpen, bytes > 0 else { return Action() }
        guard hasHead else { return fail(.malformed) }
        parts.append(part, bytes: bytes)
        let wake = waiter.take()
        guard let limit, parts.bytes > limit, case .running = wire else { return Action(wake: wake) }
        wire = .paused
        return Action(wake: wake, wire: .pause)
    }

    /// Ends the exchange for a reason of our own.
    mutating func fail(_ failure: Failure) -> Action {
        guard isOpen else { return Action() }
        outcome = .broken(failure)
        return Action(wake: waiter.take(), wire: cancelWire())
    }

    /// The session has nothing more to say.
    mutating func end(_ error: (any Error)?) -> Action {
        wire = .over
        guard isOpen else { return Action() }
        outcome = if let error { .broken(.network(error)) } else { hasHead ? .whole : .broken(.malformed) }
        return Action(wake: waiter.take())
    }

    private mutating func cancelWire() -> Wire? {
        switch wire {
        case .idle, .starting, .cancelled, .over: return nil
        case .running, .paused:
            wire = .cancelled
            return .cancel
        }
    }
}

/// What has arrived and was not read, in its order.
struct Parts<Part> {
    private var parts: [(Part, bytes: Int)?] = []
    private var first = 0
    private(set) var bytes = 0

    var isEmpty: Bool { first == parts.count }

    mutating func append(_ part: Part, bytes count: Int) {
        parts.append((part, count))
        bytes += count
    }

    /// - Complexity: O(1), amortized.
    mutating func removeFirst() -> Part? {
        guard !isEmpty, let (part, count) = parts[first].take() else { return nil }
        first += 1
        bytes -= count
        if first == parts.count || first >= 64 && first * 2 >= parts.count {
            parts.removeFirst(first)
            first = 0
        }
        return part
    }
}
