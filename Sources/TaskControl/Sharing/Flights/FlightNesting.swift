/// The waits of flights for each other: a flight waits for another one while a caller inside its operation waits for
/// that other flight. Empty, except while flights run inside flights. A pure value: no lock, task or closure.
struct FlightNesting<ID: Hashable> {
    /// The flights that each flight waits for, with the number of callers inside it that wait for each of them.
    private var waits: [ID: [ID: Int]] = [:]
    /// For each flight that is waited for: its callers whose code belongs to another flight's operation, each with the
    /// innermost such flight. This innermost flight may have ended; it then has no element in `waits`.
    private var origins: [ID: [ID: ID]] = [:]

    var isEmpty: Bool { origins.isEmpty }

    /// All flights that are recorded as waiting or as waited for.
    var flights: Set<ID> { Set(waits.keys).union(waits.values.flatMap(\.keys)).union(origins.keys) }

    /// The capacity of the largest dictionary, as a measure of the memory that is allocated.
    var capacity: Int {
        let inner = origins.values.map(\.capacity) + waits.values.map(\.capacity)
        return max(waits.capacity, origins.capacity, inner.max() ?? 0)
    }

    mutating func insert(from origin: ID, to target: ID, by caller: ID) {
        waits[origin, default: [:]][target, default: 0] += 1
        origins[target, default: [:]][caller] = origin
    }

    /// Removes the wait of `caller`, which no longer waits for the flight `target`. Has no effect if the code of the
    /// caller belongs to no other flight's operation.
    mutating func remove(to target: ID, by caller: ID) {
        guard let origin = origins[target]?.removeValue(forKey: caller) else { return }
        origins[target]?.shrinkIfMostlyEmpty()
        if origins[target]?.isEmpty == true { origins[target] = nil }
        remove(from: origin, to: target)
        shrink()
    }

    /// Removes all waits for a flight.
    ///
    /// - Complexity: O(*n*) in the number of the flight's callers that are inside other flights.
    mutating func removeAll(to target: ID) {
        for origin in (origins.removeValue(forKey: target) ?? [:]).values { remove(from: origin, to: target) }
        shrink()
    }

    /// Removes a flight that has ended: the waits for it, and its own waits for others.
    mutating func removeAll(of flight: ID) {
        removeAll(to: flight)
        waits[flight] = nil
        shrink()
    }

    /// Releases the memory that the dictionaries no longer need after many waits at the same time.
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
