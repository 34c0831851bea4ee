/// A place in which code runs, and whose end other code can wait for: the turn of a queue, or a flight.
protocol WaitPlace: Hashable {
    associatedtype Owner: Hashable
    /// The queue of a turn, or the table of a flight.
    var ownerID: Owner { get }
    /// A number that is higher for a turn that was enqueued later in the same queue.
    var number: UInt64 { get }
}

/// The waits of code that is inside a place: a turn of a queue, or a flight. Empty, except while such code waits. A pure
/// value: no lock, task or closure.
///
/// A place *waits* if code inside it waits. A wait is *stuck* if it cannot end before itself:
///
/// - A wait for a flight is stuck if the flight has a stuck wait inside.
/// - A wait for a turn of a queue is stuck if each of the turns of the queue has a stuck wait inside.
/// - A wait for the end of several turns is stuck if one of them has a stuck wait inside.
///
/// The graph refuses each wait that would be stuck, so it contains none.
struct WaitGraph<Place: WaitPlace> {
    /// Identifies one wait.
    typealias Wait = UInt64
    typealias Owner = Place.Owner

    /// The aim of a wait.
    enum Goal {
        case flight(Place)
        /// A turn of a queue in which `width` turns run at a time.
        case turn(of: Owner, width: Int)
        /// The end of all turns of a queue up to the one with a number.
        case end(of: Owner, upTo: UInt64)
    }

    private struct Entry {
        let goal: Goal
        let places: [Place]
    }

    private var waits = RareDictionary<Wait, Entry>()
    /// The waits of the code inside each place, by the owner of the place.
    private var inside = RareDictionary<Owner, RareDictionary<Place, Set<Wait>>>()
    /// The flights for which code inside places waits: the number of these waits, and whether the flight has ended, or
    /// has no callers any more. Such a flight keeps no code waiting.
    private var flights = RareDictionary<Place, (waits: Int, isOver: Bool)>()
    private var lastWait: Wait = 0

    /// The number of waits.
    var count: Int { waits.count }

    /// The capacity of the largest dictionary, as a measure of the memory that is allocated.
    var capacity: Int {
        let places = inside.values.map { max($0.capacity, $0.values.map(\.capacity).max() ?? 0) }
        return max(waits.capacity, inside.capacity, flights.capacity, places.max() ?? 0)
    }

    /// Records that code waits.
    ///
    /// - Parameters:
    ///   - goal: The aim of the wait.
    ///   - places: The places that the code is inside of.
    ///   - isHeld: Returns whether a turn has begun and not ended.
    /// - Returns: The wait; `nil` if it would be stuck. Nothing is recorded then.
    /// - Complexity: O(1) if no code waits inside the goal. Otherwise O(*n*) in the number of waits inside the goal,
    ///   inside the goals of these waits, and so on.
    mutating func wait(for goal: Goal, inside places: [Place], isHeld: (Place) -> Bool) -> Wait? {
        lastWait += 1
        let wait = lastWait
        waits[wait] = Entry(goal: goal, places: places)
        for place in places { inside[place.ownerID, default: RareDictionary()][place, default: []].insert(wait) }
        if case .flight(let flight) = goal { flights[flight, default: (0, false)].waits += 1 }
        guard isStuck(wait, isHeld) else { return wait }
        remove(wait)
        return nil
    }

    /// Removes a wait. Has no effect if the wait was removed before.
    mutating func remove(_ wait: Wait) {
        guard let entry = waits.removeValue(forKey: wait) else { return }
        waits.shrinkIfMostlyEmpty()
        for place in entry.places {
            inside[place.ownerID]?[place]?.remove(wait)
            if inside[place.ownerID]?[place]?.isEmpty == true { removeWaits(inside: place) }
        }
        guard case .flight(let flight) = entry.goal, let callers = flights[flight] else { return }
        flights[flight]?.waits -= 1
        if callers.waits == 1 {
            flights[flight] = nil
            flights.shrinkIfMostlyEmpty()
        }
    }

    private mutating func removeWaits(inside place: Place) {
        inside[place.ownerID]?[place] = nil
        inside[place.ownerID]?.shrinkIfMostlyEmpty()
        if inside[place.ownerID]?.isEmpty == true {
            inside[place.ownerID] = nil
            inside.shrinkIfMostlyEmpty()
        }
    }

    /// Records that a flight has ended, or that its callers no longer wait.
    mutating func isOver(_ flight: Place) { flights[flight]?.isOver = true }

    // MARK: The search

    /// The waits that a wait depends on, by place.
    private enum Blockers {
        /// The wait is stuck if one of these places has a stuck wait inside.
        case one([Set<Wait>])
        /// The wait is stuck if each of these places has a stuck wait inside.
        case all([Set<Wait>])

        var places: [Set<Wait>] {
            switch self {
            case .one(let places), .all(let places): places
            }
        }

        func contain(_ stuck: Set<Wait>) -> Bool {
            switch self {
            case .one(let places): places.contains { !$0.isDisjoint(with: stuck) }
            case .all(let places): !places.isEmpty && places.allSatisfy { !$0.isDisjoint(with: stuck) }
            }
        }
    }

    private mutating func blockers(of wait: Wait, _ isHeld: (Place) -> Bool) -> Blockers {
        switch waits[wait]?.goal {
        case nil: return .one([])
        case .flight(let flight):
            guard flights[flight]?.isOver != true, let waits = inside[flight.ownerID]?[flight] else { return .one([]) }
            return .one([waits])
        case .turn(let queue, let width):
            if (inside[queue]?.count ?? 0) < width { return .all([]) }
            let turns = turns(of: queue, isHeld)
            return .all(turns.count < width ? [] : turns.map(\.waits))
        case .end(let queue, let last):
            return .one(turns(of: queue, isHeld).filter { $0.turn.number <= last }.map(\.waits))
        }
    }

    /// Returns the turns of a queue with waits inside. A turn that has ended is removed: code that has outlived it may
    /// still wait.
    private mutating func turns(of queue: Owner, _ isHeld: (Place) -> Bool) -> [(turn: Place, waits: Set<Wait>)] {
        for turn in inside[queue]?.keys ?? [] where !isHeld(turn) { removeWaits(inside: turn) }
        return inside[queue]?.entries.map { ($0, $1) } ?? []
    }

    private mutating func isStuck(_ wait: Wait, _ isHeld: (Place) -> Bool) -> Bool {
        var found = [(wait: wait, blockers: blockers(of: wait, isHeld))]
        if found[0].blockers.places.isEmpty { return false }
        var (stuck, next) = (Set([wait]), 0)
        while next < found.count {
            for other in found[next].blockers.places.joined() where stuck.insert(other).inserted {
                found.append((other, blockers(of: other, isHeld)))
            }
            next += 1
        }
        // All that were found, without those that can end: the latest first, since the others depend on them.
        var count: Int
        repeat {
            count = stuck.count
            for (wait, blockers) in found.reversed() where stuck.contains(wait) && !blockers.contain(stuck) {
                stuck.remove(wait)
            }
        } while stuck.count < count
        return stuck.contains(wait)
    }
}

extension Place: WaitPlace {
    var ownerID: ObjectIdentifier { ObjectIdentifier(owner) }
    var number: UInt64 { id.number }
}
