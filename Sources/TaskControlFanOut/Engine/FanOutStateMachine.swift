internal import TaskControl

/// The state of a fan-out, which calls an operation for several elements of a source at the same time: the places in
/// use, the results that are ready, and the tasks that wait. Pure: a value without a lock, task or closure.
///
/// The puller is the task that takes elements from the source. The consumer is the task that takes results.
///
///     place ──free──▶ start ──▶ running ──finish──▶ finished ──take──▶ (free)
///       │
///       └──wait──▶ parked, until a place is free
///
/// An element uses a place from the start of its operation until the consumer takes its result. So a result that waits
/// for an earlier, slower operation uses a place as well, and memory is bounded by the limit.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. At most `limit` places are in use.
/// 2. With ``FanOutOrder/completion``, the results that are ready follow one another without gaps.
/// 3. The puller does not wait while a place is free, and the consumer does not wait while there is a result, or after
///    the end.
///
/// Generic over the results, which it owns.
struct FanOutStateMachine<Value> {
    enum Place: Equatable {
        /// A place is free: the puller may take an element from the source.
        case free
        case wait
        /// The puller must not take another element from the source.
        case stop
    }

    enum Step {
        case value(Value)
        case wait
        /// The source has ended, and all results were taken.
        case over
        /// An error or a cancellation has ended the fan-out.
        case stopped
    }

    struct Taken {
        let step: Step
        /// The continuation of the puller, which must be resumed since a place is free; `nil` if the puller does not
        /// wait.
        var puller: Word?
    }

    struct Stop {
        var isFirst = false
        var puller: Word?
        var consumer: Word?
        /// The buffer of the results that were not taken, with `nil` for each unused element. The caller releases it
        /// after it has released the lock.
        var dropped: [Value?] = []
    }

    private enum Phase { case open, sourceEnded, stopped }

    let limit: Int
    private let order: FanOutOrder
    private var phase = Phase.open
    private var started = 0
    private var finished = 0
    private var taken = 0
    /// A ring buffer of results: the result of position *n* is at the index *n* modulo the size of the buffer. The size
    /// is a power of two, and grows with the number of places in use.
    private var ring: [Value?] = [nil]
    private var puller: Word?
    private var consumer: Word?

    /// Creates the state of a fan-out that has not begun.
    ///
    /// - Parameter limit: The number of places. Less than 1 counts as 1.
    init(limit: Int, order: FanOutOrder) {
        self.limit = max(1, limit)
        self.order = order
    }

    /// The number of operations that run, or have a result that was not taken.
    var inUse: Int { started - taken }

    // MARK: The source

    /// Returns whether the puller may take an element from the source, must wait for a place, or must stop.
    func place() -> Place {
        guard phase == .open else { return .stop }
        return inUse < limit ? .free : .wait
    }

    /// Stores the continuation of the puller if no place is free.
    ///
    /// - Returns: ``Place/wait`` if the continuation was stored, to be resumed when the puller should ask again.
    ///   Otherwise the same as ``place()``.
    mutating func park(puller waiter: Word) -> Place {
        let place = place()
        if place == .wait { puller = waiter }
        return place
    }

    /// Records that the operation of an element starts. Traps if no place is free.
    ///
    /// - Returns: The number of the operation, counted from 0.
    /// - Complexity: O(1), amortized.
    mutating func start() -> Int {
        precondition(inUse < limit, "An element was pulled without a free place.")
        // After a stop no results are stored. The operation of an element that the source has returned since then may
        // still start.
        if phase != .stopped, inUse == ring.count { grow() }
        started += 1
        return started - 1
    }

    private mutating func grow() {
        var larger = [Value?](repeating: nil, count: ring.count * 2)
        for position in taken..<started { larger[position & (larger.count - 1)] = ring[position & (ring.count - 1)] }
        ring = larger
    }

    /// Records that the source has no other element. Has no effect after a stop.
    ///
    /// - Returns: The continuation of the consumer, which must be resumed; `nil` if there is none to resume.
    mutating func endSource() -> Word? {
        guard phase == .open else { return nil }
        phase = .sourceEnded
        return inUse == 0 ? wakeConsumer() : nil
    }

    // MARK: The operations

    /// Stores the value of an operation that has ended. `number` is the number that ``start()`` returned for the
    /// operation. The value is ignored if the fan-out was stopped.
    ///
    /// - Returns: The continuation of the consumer, which must be resumed; `nil` if there is none to resume.
    mutating func finish(_ number: Int, _ value: Value) -> Word? {
        guard phase != .stopped else { return nil }
        let position = order == .source ? number : finished
        finished += 1
        ring[position & (ring.count - 1)] = value
        return position == taken ? wakeConsumer() : nil
    }

    /// Ends the fan-out because of an error or a cancellation. Only the first call has an effect.
    ///
    /// - Returns: The continuations that the caller must resume, the results that it must release, and whether this
    ///   call was the first.
    mutating func stop() -> Stop {
        guard phase != .stopped else { return Stop() }
        phase = .stopped
        var stop = Stop(isFirst: true, puller: puller, consumer: wakeConsumer())
        puller = nil
        swap(&stop.dropped, &ring)
        return stop
    }

    // MARK: The consumer

    /// Takes the next result, if it is ready, and frees its place.
    ///
    /// - Returns: The result, or the reason for which there is none; and the continuation of the puller to resume, if
    ///   any.
    /// - Complexity: O(1).
    mutating func take() -> Taken {
        if phase == .stopped { return Taken(step: .stopped) }
        let index = taken & (ring.count - 1)
        guard inUse > 0, let value = ring[index] else {
            return Taken(step: phase == .sourceEnded && inUse == 0 ? .over : .wait)
        }
        ring[index] = nil
        taken += 1
        defer { puller = nil }
        return Taken(step: .value(value), puller: puller)
    }

    /// Stores the continuation of the consumer if there is neither a result nor the end to take.
    ///
    /// - Returns: Whether the continuation was stored, to be resumed when the consumer should call ``take()`` again. If
    ///   not, the consumer must call it at once.
    mutating func park(consumer waiter: Word) -> Bool {
        guard isNothingToTake else { return false }
        consumer = waiter
        return true
    }

    /// Removes the continuation of the consumer, because the consumer was cancelled, or because there is now a result
    /// or the end of the results for it to take.
    ///
    /// - Returns: The continuation of the consumer, which must be resumed; `nil` if there is none to resume.
    mutating func wakeConsumer() -> Word? {
        defer { consumer = nil }
        return consumer
    }

    private var isNothingToTake: Bool {
        switch phase {
        case .open: inUse == 0 || ring[taken & (ring.count - 1)] == nil
        case .sourceEnded: inUse > 0 && ring[taken & (ring.count - 1)] == nil
        case .stopped: false
        }
    }

    func checkInvariants() {
        precondition((0...limit).contains(inUse), "At most as many places as the limit are in use.")
        if phase == .stopped { return precondition(puller == nil && consumer == nil, "no waiter after the end") }
        let ready = (taken..<started).map { ring[$0 & (ring.count - 1)] != nil }
        precondition(ready.count { $0 } == finished - taken, "All results are kept, and no other.")
        if order == .completion { precondition(!ready.drop { $0 }.contains(true), "Results follow one another.") }
        precondition(consumer == nil || isNothingToTake, "The consumer waits for what is there.")
        precondition(puller == nil || inUse == limit || phase != .open, "The puller waits for a place that is free.")
    }
}
