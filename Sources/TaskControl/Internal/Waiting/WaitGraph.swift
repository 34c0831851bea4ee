/// The waits for flights by callers that are inside a place: the turn of a queue, or another flight. Empty, except while
/// there are such callers. A pure value: no lock, task or closure.
struct WaitGraph<Place: Hashable> {
    /// Identifies one wait of one caller.
    typealias Wait = UInt64

    /// For each flight, its callers that are inside places, each with these places.
    private var callers: [Place: [Wait: [Place]]] = [:]
    private var lastWait: Wait = 0

    /// The number of flights for which such callers wait.
    var flightCount: Int { callers.count }

    /// The capacity of the largest dictionary, as a measure of the memory that is allocated.
    var capacity: Int { max(callers.capacity, callers.values.map(\.capacity).max() ?? 0) }

    /// Records that a caller waits for a flight.
    ///
    /// - Parameters:
    ///   - flight: The flight.
    ///   - places: The places that the caller is inside of.
    /// - Returns: The wait; `nil` if the flight could then not end, because it waits for one of the places, directly or
    ///   through other flights. Nothing is recorded then.
    /// - Complexity: O(*n*) in the number of callers that wait for the places, directly or through other flights.
    mutating func wait(for flight: Place, inside places: [Place]) -> Wait? {
        if blocked(by: places).contains(flight) { return nil }
        lastWait += 1
        callers[flight, default: [:]][lastWait] = places
        return lastWait
    }

    /// Removes a wait. Has no effect if the wait was removed before.
    mutating func remove(_ wait: Wait, for flight: Place) {
        guard callers[flight]?.removeValue(forKey: wait) != nil else { return }
        callers[flight]?.shrinkIfMostlyEmpty()
        if callers[flight]?.isEmpty == true { removeAll(for: flight) }
    }

    /// Removes all waits for a flight that has ended, or whose callers no longer wait.
    mutating func removeAll(for flight: Place) {
        if callers.removeValue(forKey: flight) != nil { callers.shrinkIfMostlyEmpty() }
    }

    /// Returns the given places, and all places of callers that wait for one of these flights, directly or through
    /// other flights: code in any of them continues only after the code in one of the given places.
    ///
    /// - Complexity: O(*n*) in the number of these callers and places.
    func blocked(by places: [Place]) -> Set<Place> {
        var (seen, open): (Set<Place>, [Place]) = ([], places)
        while let place = open.popLast() {
            guard seen.insert(place).inserted, let waiting = callers[place] else { continue }
            for places in waiting.values { open += places }
        }
        return seen
    }
}

/// The one ``WaitGraph`` of the process, so that flights of different objects that wait for each other are detected.
///
/// Its lock may be taken while the lock of a flight table is held, and no other lock is taken inside it.
package enum FlightWaits {
    /// A wait, which must be removed when the caller no longer waits.
    package struct Wait: Sendable {
        let number: UInt64

        /// The wait of a caller that is in no place, and so is not in the graph.
        @usableFromInline static let unrecorded = Wait(number: 0)

        var isRecorded: Bool { number != 0 }
    }

    private static let graph = Locked(WaitGraph<Place>())
    /// The number of flights in the graph, so that flights without such callers end without the lock.
    private static let count = AtomicWord(0)

    /// Records that a caller waits for a flight.
    ///
    /// - Parameter places: The places that the caller is inside of; must not be empty.
    /// - Returns: The wait; `nil` if the caller would wait for itself. Nothing is recorded then.
    static func begin(for flight: Place, inside places: [Place]) -> Wait? {
        change { $0.wait(for: flight, inside: places) }.map(Wait.init)
    }

    static func end(_ wait: Wait, for flight: Place) {
        if wait.isRecorded { change { $0.remove(wait.number, for: flight) } }
    }

    /// Removes all waits for a flight, which has ended or whose callers no longer wait.
    @inline(__always)
    static func endAll(for flight: @autoclosure () -> Place) {
        if count.value != 0 { change { $0.removeAll(for: flight()) } }
    }

    /// Returns the places whose code continues only after the code in one of the given places, and these places.
    static func blocked(by places: [Place]) -> Set<Place> {
        count.value == 0 ? Set(places) : graph.withLock { $0.blocked(by: places) }
    }

    @inline(never)
    private static func change<Result>(_ event: (inout WaitGraph<Place>) -> Result) -> Result {
        graph.withLock { graph in
            defer { count.store(Int64(graph.flightCount)) }
            return event(&graph)
        }
    }
}
