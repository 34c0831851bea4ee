/// Which flight waits for which: because a caller that is inside the one is on the other. Empty, but for flights inside flights. Pure.
struct FlightNesting<ID: Hashable> {
    /// How many callers inside a flight are on another.
    private var waits: [ID: [ID: Int]] = [:]
    /// Of a flight that is waited for: which of its callers are inside which flight. That may be over, and then is not among the waits.
    private var origins: [ID: [ID: ID]] = [:]

    var isEmpty: Bool { origins.isEmpty }

    /// The flights that it knows as waiting or waited for.
    var flights: Set<ID> { Set(waits.keys).union(waits.values.flatMap(\.keys)).union(origins.keys) }

    /// What it holds memory for.
    var capacity: Int {
        let inner = origins.values.map(\.capacity) + waits.values.map(\.capacity)
        return max(waits.capacity, origins.capacity, inner.max() ?? 0)
    }

    mutating func insert(from origin: ID, to target: ID, by caller: ID) {
        waits[origin, default: [:]][target, default: 0] += 1
        origins[target, default: [:]][caller] = origin
    }

    /// A caller has left.
    mutating func remove(to target: ID, by caller: ID) {
        guard let origin = origins[target]?.removeValue(forKey: caller) else { return }
        origins[target]?.shrinkIfMostlyEmpty()
        if origins[target]?.isEmpty == true { origins[target] = nil }
        remove(from: origin, to: target)
        shrink()
    }

    /// A flight is waited for no more.
    ///
    /// - Complexity: O(*n*) in the number of its callers that are inside flights.
    mutating func removeAll(to target: ID) {
        for origin in (origins.removeValue(forKey: target) ?? [:]).values { remove(from: origin, to: target) }
        shrink()
    }

    /// A flight has ended.
    mutating func removeAll(of flight: ID) {
        removeAll(to: flight)
        waits[flight] = nil
        shrink()
    }

    /// A burst leaves nothing behind.
    private mutating func shrink() {
        waits.shrinkIfMostlyEmpty()
        origins.shrinkIfMostlyEmpty()
    }

    private mutating func remove(from origin: ID, to target: ID) {
        guard let number = waits[origin]?[target] else { return }
        waits[origin]?[target] = number > 1 ? number - 1 : nil
        waits[origin]?.shrinkIfMostlyEmpty()
        if waits[origin]?.isEmpty == true { waits[origin] = nil }
    }

    /// Whether a flight is one of some others, or waits for one of them, whatever the number of flights in between.
    ///
    /// - Complexity: O(*n*) in the number of flights and waits in between.
    func leads(from flight: ID, to others: [ID]) -> Bool {
        var (seen, open): (Set<ID>, [ID]) = ([], [flight])
        while let next = open.popLast() {
            if others.contains(next) { return true }
            if seen.insert(next).inserted { open += (waits[next] ?? [:]).keys }
        }
        return false
    }

    var isCircular: Bool {
        waits.contains { origin, targets in targets.keys.contains { leads(from: $0, to: [origin]) } }
    }
}
