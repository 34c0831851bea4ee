/// The places of a bounded fan-out: which results are ready, and who waits. Pure: no lock, task or closure.
///
///     place ──free──▶ start ──▶ running ──finish──▶ finished ──take──▶ (free)
///       │
///       └──wait──▶ parked, until a place is free
///
/// An element takes a place when its operation starts, and leaves it when the consumer takes its result. So a result that waits behind a slow one
/// counts as a running operation does, and memory is bounded by the limit.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. At most `limit` places are in use.
/// 2. In the order of completion, no operation that runs is before a finished one.
/// 3. No waiter waits for what is there: a free place, a result, the end.
struct FanOutStateMachine<Value, Waiter> {
    enum Place: Equatable {
        /// The source can be asked for an element.
        case free
        case wait
        /// The source is not asked again.
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
        /// The puller, to be resumed: a place is free.
        var puller: Waiter?
    }

    struct Stop {
        var isFirst = false
        var puller: Waiter?
        var consumer: Waiter?
        /// The results that are not taken, to be released where no lock is held.
        var dropped: [Value?] = []
    }

    private enum Phase { case open, sourceEnded, stopped }

    let limit: Int
    private let order: FanOutOrder
    private var phase = Phase.open
    private var started = 0
    private var finished = 0
    private var taken = 0
    /// A ring of results: that of position *n* is at *n* modulo its size, which is a power of two and grows with the places in use.
    private var ring: [Value?] = [nil]
    private var puller: Waiter?
    private var consumer: Waiter?

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

    /// Returns whether the source can be asked for an element.
    func place() -> Place {
        guard phase == .open else { return .stop }
        return inUse < limit ? .free : .wait
    }

    /// Parks the puller, if no place is free.
    ///
    /// - Returns: `wait` if the puller is kept, and resumed when it should ask again.
    mutating func park(puller waiter: Waiter) -> Place {
        let place = place()
        if place == .wait { puller = waiter }
        return place
    }

    /// Starts the operation of an element.
    ///
    /// - Returns: The number of the operation, counted from 0.
    /// - Complexity: O(1), amortized.
    mutating func start() -> Int {
        precondition(inUse < limit, "An element was pulled without a free place.")
        // After the end nothing is kept, and an element that the source has returned since then may start.
        if phase != .stopped, inUse == ring.count { grow() }
        started += 1
        return started - 1
    }

    private mutating func grow() {
        var larger = [Value?](repeating: nil, count: ring.count * 2)
        for position in taken..<started { larger[position & (larger.count - 1)] = ring[position & (ring.count - 1)] }
        ring = larger
    }

    /// Records that the source has no other element.
    ///
    /// - Returns: The consumer, to be resumed.
    mutating func endSource() -> Waiter? {
        guard phase == .open else { return nil }
        phase = .sourceEnded
        return inUse == 0 ? wakeConsumer() : nil
    }

    // MARK: The operations

    /// Stores the value of an operation that has ended. The value is ignored if the fan-out was stopped.
    ///
    /// - Returns: The consumer, to be resumed.
    mutating func finish(_ number: Int, _ value: Value) -> Waiter? {
        guard phase != .stopped else { return nil }
        let position = order == .source ? number : finished
        finished += 1
        ring[position & (ring.count - 1)] = value
        return position == taken ? wakeConsumer() : nil
    }

    /// Ends the fan-out because of an error or a cancellation. The first one counts.
    mutating func stop() -> Stop {
        guard phase != .stopped else { return Stop() }
        phase = .stopped
        var stop = Stop(isFirst: true, puller: puller, consumer: wakeConsumer())
        puller = nil
        swap(&stop.dropped, &ring)
        return stop
    }

    // MARK: The consumer

    /// Takes the next result, and frees its place.
    ///
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

    /// Parks the consumer, if there is nothing to take.
    ///
    /// - Returns: Whether the consumer is kept, and resumed when it should look again.
    mutating func park(consumer waiter: Waiter) -> Bool {
        guard isNothingToTake else { return false }
        consumer = waiter
        return true
    }

    /// Removes the consumer, which was cancelled or has something to take.
    ///
    /// - Returns: The consumer, to be resumed.
    mutating func wakeConsumer() -> Waiter? {
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
