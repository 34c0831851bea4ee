/// The state of one exchange with a server: the parts that have arrived, the reader that waits for them, and the command to the transfer
/// below.
///
/// ```
///  transfer   idle ── start ─▶ starting ── didStart ─▶ running ── end ─▶ over
///                                  │                      │               ▲
///                                  └─ didStart ───────────┴── cancel ─────┘
///                                     (abandoned)
///  reader     reading ── cancel ─▶ abandoned(.cancelled)
///                     ── leave ──▶ abandoned(.left)
/// ```
///
/// - The transfer is cancelled at most once, and only between `didStart` and `end`.
/// - The reader receives the head, then the parts in their order, then the end or one failure; after abandoning the
///   exchange, only the reason.
/// - A parked waiter is returned once: when there is something for it, or when the exchange is abandoned.
///
/// There is one reader. It asks for the head or for the next part, and must wait if there is nothing yet. Where
/// the transport delivers (`URLSession`), the reader parks a waiter, is woken, and asks again. Where the reader itself
/// fetches from the transport (AsyncHTTPClient), it passes on what it got with `receive`, `fail` or `end`, and asks
/// again; it never parks.
struct ExchangeStateMachine<Head, Part, Waiter> {
    /// Why there is nothing more.
    enum Failure {
        case network(any Error)
        /// The response is not HTTP.
        case malformed
        case cancelled
        case left
    }

    /// A command to the transfer.
    enum Command { case cancel, pause, proceed }

    /// The actions after an event, in this order.
    struct Action {
        var wake: Waiter?
        var command: Command?
    }

    enum Answer<Value> {
        case value(Value)
        case end
        case wait
        case failure(Failure)
    }

    private enum Transfer { case idle, starting, running, paused, cancelled, over }
    private enum Outcome {
        case open, whole
        case broken(Failure)
    }

    private var transfer = Transfer.idle
    private var outcome = Outcome.open
    private var abandoned: Failure?
    private var head: Head?
    private var hasHead = false
    private var parts = PartBuffer<Part>()
    private var waiter: Waiter?
    /// The number of bytes that may wait for the reader before the transfer is paused; `nil` if it cannot be paused.
    private let limit: Int?

    init(limit: Int?) {
        self.limit = limit
    }

    /// Whether sending and receiving still matter to the caller.
    var isOpen: Bool {
        if case .open = outcome { abandoned == nil } else { false }
    }

    /// Whether the transfer must be paused.
    var isPaused: Bool {
        if case .paused = transfer { true } else { false }
    }

    // MARK: Events of the caller

    /// - Returns: Whether to start the transfer; `false` if the exchange has been abandoned.
    mutating func start() -> Bool {
        guard case .idle = transfer, abandoned == nil else { return false }
        transfer = .starting
        return true
    }

    mutating func didStart() -> Action {
        guard case .starting = transfer else { return Action() }
        transfer = .running
        return abandoned != nil || !isOpen ? Action(command: cancelTransfer()) : Action()
    }

    mutating func takeHead() -> Answer<Head> {
        if let abandoned { return .failure(abandoned) }
        if let head = head.take() { return .value(head) }
        guard case .broken(let failure) = outcome else { return .wait }
        return .failure(failure)
    }

    /// - Returns: The next part, and whether the transfer may proceed.
    mutating func takePart() -> (Answer<Part>, Command?) {
        if let abandoned { return (.failure(abandoned), nil) }
        if let part = parts.removeFirst() {
            guard case .paused = transfer, let limit, parts.bytes <= limit / 2 else { return (.value(part), nil) }
            transfer = .running
            return (.value(part), .proceed)
        }
        return switch outcome {
        case .open: (.wait, nil)
        case .whole: (.end, nil)
        case .broken(let failure): (.failure(failure), nil)
        }
    }

    /// - Returns: The waiter, if there is something for it already.
    mutating func park(_ waiter: Waiter) -> Waiter? {
        precondition(self.waiter == nil, "The body of a response has one reader.")
        guard isOpen, head == nil, parts.isEmpty else { return waiter }
        self.waiter = waiter
        return nil
    }

    mutating func cancel() -> Action { abandon(.cancelled) }

    mutating func leave() -> Action { abandon(.left) }

    private mutating func abandon(_ reason: Failure) -> Action {
        guard abandoned == nil else { return Action() }
        abandoned = reason
        head = nil
        parts = PartBuffer()
        return Action(wake: waiter.take(), command: cancelTransfer())
    }

    // MARK: Events of the transport

    mutating func receive(head: Head) -> Action {
        guard isOpen, !hasHead else { return Action() }
        hasHead = true
        self.head = head
        return Action(wake: waiter.take())
    }

    /// Receives a head that nothing follows: what the transport would still do is not wanted.
    ///
    /// - Parameter head: `nil`: the head that has been received.
    mutating func receiveLast(head: Head?) -> Action {
        guard isOpen else { return Action() }
        if let head, !hasHead {
            hasHead = true
            self.head = head
        }
        outcome = hasHead ? .whole : .broken(.malformed)
        return Action(wake: waiter.take(), command: cancelTransfer())
    }

    mutating func receive(part: Part, bytes: Int) -> Action {
        guard isOpen, bytes > 0 else { return Action() }
        guard hasHead else { return fail(.malformed) }
        parts.append(part, bytes: bytes)
        let wake = waiter.take()
        guard let limit, parts.bytes > limit, case .running = transfer else { return Action(wake: wake) }
        transfer = .paused
        return Action(wake: wake, command: .pause)
    }

    /// Ends the exchange for a reason that is not the transport's.
    mutating func fail(_ failure: Failure) -> Action {
        guard isOpen else { return Action() }
        outcome = .broken(failure)
        return Action(wake: waiter.take(), command: cancelTransfer())
    }

    /// Ends the exchange because the transfer has ended.
    mutating func end(_ error: (any Error)?) -> Action {
        transfer = .over
        guard isOpen else { return Action() }
        outcome = if let error { .broken(.network(error)) } else { hasHead ? .whole : .broken(.malformed) }
        return Action(wake: waiter.take())
    }

    private mutating func cancelTransfer() -> Command? {
        switch transfer {
        case .idle, .starting, .cancelled, .over: return nil
        case .running, .paused:
            transfer = .cancelled
            return .cancel
        }
    }
}
