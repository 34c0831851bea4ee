/// The waits of flights for each other: one flight waits for another if a caller inside it is on the other. Empty, except for flights inside
/// flights. Pure.
struct FlightNesting<ID: Hashable> {
    /// The number of callers inside a flight that are on another one.
    private var waits: [ID: [ID: Int]] = [:]
    /// The callers of each flight that is waited for, and the flights that they are inside of. Such a flight may have ended, and then is not among
    /// the waits.
    private var origins: [ID: [ID: ID]] = [:]

    var isEmpty: Bool { origins.isEmpty }

    /// The flights that it knows as waiting or waited for.
    var flights: Set<ID> { Set(waits.keys).union(waits.values.flatMap(\.keys)).union(origins.keys) }

    /// The number of elements that it holds memory for.
    var capacity: Int {
        let inner = origins.values.map(\.capacity) + waits.values.map(\.capacity)
        return max(waits.capacity, origins.capacity, inner.max() ?? 0)
    }

    mutating func insert(from origin: ID, to target: ID, by caller: ID) {
        waits[origin, default: [:]][target, default: 0] += 1
        origins[target, default: [:]][caller] = origin
    }

    /// Removes a caller that has left.
    mutating func remove(to target: ID, by caller: ID) {
        guard let origin = origins[target]?.removeValue(forKey: caller) else { return }
        origins[target]?.shrinkIfMostlyEmpty()
        if origins[target]?.isEmpty == true { origins[target] = nil }
        remove(from: origin, to: target)
        shrink()
    }

    /// Removes all waits for a flight.
    ///
    /// - Complexity: O(*n*) in the number of its callers that are inside flights.
    mutating func removeAll(to target: ID) {
        for origin in (origins.removeValue(forKey: target) ?? [:]).values { remove(from: origin, to: target) }
        shrink()
    }

    /// Removes all waits of a flight that has ended.
    mutating func removeAll(of flight: ID) {
        removeAll(to: flight)
        waits[flight] = nil
        shrink()
    }

    /// Releases the memory that a burst of waits has left behind.
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

    /// Returns whether a flight is one of the given flights, or waits for one of them, directly or through other flights.
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
