/// A search for an order of the calls of a history that explains all replies: see ``HistoryRecorder``. A value without side
/// effects.
///
/// The beginnings and ends of the calls that the order does not contain yet form a linked list. A call can come next if its
/// beginning stands before the first end in the list. A set of calls that was reached before with the same state is not
/// tried again.
struct LinearizabilitySearch<Operation: Sendable, Reply: Sendable, Model: Hashable> {
    private struct Event {
        let call: Int
        let isBegin: Bool
        var previous: Int
        var next: Int
    }

    /// A set of calls, as bits, and the state after them.
    private struct Reached: Hashable {
        var calls: [UInt64]
        var state: Model
    }

    private let calls: [HistoryCall<Operation, Reply>]
    /// The events in their order. The first and the last element are the ends of the list.
    private var events: [Event]
    /// For each call, the index of its beginning and of its end in ``events``. The index of the end is `nil` if the effect
    /// of the call is unknown.
    private var places: [(begin: Int, end: Int?)]
    private var reached: Reached
    private var visited: Set<Reached> = []
    /// The order so far, with the state before each call.
    private var order: [(call: Int, before: Model)] = []
    /// The number of calls with a reply that the order does not contain.
    private var missingCount: Int
    /// The longest order that was found.
    private(set) var longest: [Int] = []

    init(_ calls: [HistoryCall<Operation, Reply>], from initial: Model) {
        self.calls = calls
        var moments: [(event: Int, call: Int, isBegin: Bool)] = []
        for (index, call) in calls.enumerated() {
            moments.append((call.begin, index, true))
            if let end = call.end { moments.append((end.event, index, false)) }
        }
        moments.sort { $0.event < $1.event }
        let count = moments.count
        events = [Event(call: -1, isBegin: false, previous: -1, next: 1)]
        places = Array(repeating: (0, nil), count: calls.count)
        for (index, moment) in moments.enumerated() {
            events.append(Event(call: moment.call, isBegin: moment.isBegin, previous: index, next: index + 2))
            if moment.isBegin { places[moment.call].begin = index + 1 } else { places[moment.call].end = index + 1 }
        }
        events.append(Event(call: -1, isBegin: false, previous: count, next: -1))
        reached = Reached(calls: Array(repeating: 0, count: (calls.count + 63) / 64), state: initial)
        missingCount = calls.count { $0.end != nil }
    }

    /// Returns whether there is such an order.
    mutating func run(_ apply: (inout Model, Operation, Reply?) -> Bool) -> Bool {
        var event = events[0].next
        while missingCount > 0 {
            if events[event].isBegin {
                event = add(events[event].call, apply) ? events[0].next : events[event].next
            } else {
                // This call must have come before, or there is no other call to try.
                guard let last = order.popLast() else { return false }
                remove(last.call, before: last.before)
                event = events[places[last.call].begin].next
            }
        }
        return true
    }

    /// Adds a call to the order if its reply is possible, and the calls and the state were not reached before.
    private mutating func add(_ call: Int, _ apply: (inout Model, Operation, Reply?) -> Bool) -> Bool {
        var next = reached
        guard apply(&next.state, calls[call].operation, calls[call].end?.reply) else { return false }
        next.calls[call / 64] |= 1 << UInt64(call % 64)
        guard visited.insert(next).inserted else { return false }
        order.append((call, reached.state))
        reached = next
        unlink(places[call].begin)
        if let end = places[call].end {
            unlink(end)
            missingCount -= 1
        }
        if order.count > longest.count { longest = order.map(\.call) }
        return true
    }

    private mutating func remove(_ call: Int, before state: Model) {
        reached.state = state
        reached.calls[call / 64] &= ~(1 << UInt64(call % 64))
        // In the reverse order of their removal.
        if let end = places[call].end {
            link(end)
            missingCount += 1
        }
        link(places[call].begin)
    }

    private mutating func unlink(_ index: Int) {
        let event = events[index]
        events[event.previous].next = event.next
        events[event.next].previous = event.previous
    }

    private mutating func link(_ index: Int) {
        let event = events[index]
        events[event.previous].next = index
        events[event.next].previous = index
    }
}
