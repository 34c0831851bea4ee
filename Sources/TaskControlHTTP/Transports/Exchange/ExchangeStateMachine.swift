internal import Foundation
internal import TaskControl

/// The state of one exchange with a server: the parts of the response that have arrived, the reader that waits for them, and the commands to the
/// transfer. The *transfer* is the operation of the network library, such as a `URLSessionTask`.
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
/// - A parked *waiter*, which is the stored continuation of a suspended reader, is returned exactly once: when the
///   head, a part, the end or a failure has arrived, or when the exchange is abandoned.
///
/// There is one reader. It asks for the head or for the next part, and must wait if neither has arrived. With
/// `URLSession`, which delivers parts on a queue of its own, the reader parks a waiter, is woken, and asks again. With
/// AsyncHTTPClient, the reader fetches parts itself, passes them on with `receive`, `fail` or `end`, and asks again; it
/// never parks.
///
/// Generic over the head and the parts, which it owns.
struct ExchangeStateMachine<Head, Part> {
    /// The reason why the reader receives no more of the response.
    enum Failure {
        case network(any Error)
        /// The response is not valid HTTP.
        case malformed
        case cancelled
        case left
    }

    /// A command to the transfer: cancel it, stop receiving for now, or continue to receive.
    enum Command { case cancel, pause, proceed }

    /// The actions that the caller must carry out after an event, in the order of the properties.
    struct Action {
        var wake: Word?
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
    private var waiter: Word?
    /// The number of bytes that may wait for the reader before the transfer is paused; `nil` if it cannot be paused.
    private let limit: Int?

    init(limit: Int?) {
        self.limit = limit
    }

    /// Whether the exchange has neither ended nor been abandoned, so that the caller still needs what is sent and received.
    var isOpen: Bool {
        if case .open = outcome { abandoned == nil } else { false }
    }

    /// Whether the transfer must be paused now.
    var isPaused: Bool {
        if case .paused = transfer { true } else { false }
    }

    // MARK: Events of the caller

    /// Records that the transfer is about to start.
    ///
    /// - Returns: Whether the transfer must start; `false` if the exchange has been abandoned.
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

    /// Takes the next part that has arrived.
    ///
    /// - Returns: The part, or why there is none; and the command `proceed` if a paused transfer must continue.
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

    /// Stores the continuation of the reader until something arrives for the reader. Traps if a continuation is stored
    /// already.
    ///
    /// - Returns: The waiter, if it must be resumed at once because something has already arrived or the exchange has
    ///   ended; otherwise `nil`.
    mutating func park(_ waiter: Word) -> Word? {
        precondition(
            self.waiter == nil,
            "The body of a response has two readers at the same time. Read it in one task."
        )
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

    /// Receives a head that ends the exchange, since the body is not needed. The transfer is cancelled.
    ///
    /// - Parameter head: The head; `nil` for the head that has been received before.
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

    /// Ends the exchange with a failure that the transfer has not reported itself, and cancels the transfer.
    mutating func fail(_ failure: Failure) -> Action {
        guard isOpen else { return Action() }
        outcome = .broken(failure)
        return Action(wake: waiter.take(), command: cancelTransfer())
    }

    /// Records that the transfer has ended.
    ///
    /// - Parameter error: The error of the transfer; `nil` if it has succeeded.
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

extension ExchangeStateMachine.Failure {
    /// Returns the error that the reader of the response receives.
    ///
    /// - Parameter left: The error for the failure `left`: the body is read after the closure that received it has
    ///   returned.
    func error(left: any Error) -> any Error {
        switch self {
        case .network(let error): error
        case .malformed: URLError(.badServerResponse)
        case .cancelled: CancellationError()
        case .left: left
        }
    }
}
