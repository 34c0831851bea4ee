/// Which flight waits for which: because a caller that is inside the one is on the other. Empty, but for flights inside flights. Pure.
struct FlightNesting<ID: Hashable> {
    private struct Wait {
        let target: ID
        let caller: ID
    }

    private var waits: [ID: [Wait]] = [:]
    private var origins: [ID: Set<ID>] = [:]

    var isEmpty: Bool { waits.isEmpty }

    mutating func insert(from origin: ID, to target: ID, by caller: ID) {
        waits[origin, default: []].append(Wait(target: target, caller: caller))
        origins[target, default: []].insert(origin)
    }

    /// A caller has left.
    mutating func remove(to target: ID, by caller: ID) {
        for origin in origins[target] ?? [] { remove(from: origin) { $0.caller == caller } }
    }

    /// A flight is waited for no more.
    mutating func removeAll(to target: ID) {
        for origin in origins[target] ?? [] { remove(from: origin) { $0.target == target } }
    }

    /// A flight has ended.
    mutating func removeAll(of flight: ID) {
        removeAll(to: flight)
        remove(from: flight) { _ in true }
    }

    private mutating func remove(from origin: ID, where isOver: (Wait) -> Bool) {
        guard let before = waits[origin] else { return }
        let after = before.filter { !isOver($0) }
        waits[origin] = after.isEmpty ? nil : after
        for wait in before where !after.contains(where: { $0.target == wait.target }) {
            origins[wait.target]?.remove(origin)
            if origins[wait.target]?.isEmpty == true { origins[wait.target] = nil }
        }
    }

    /// Whether a flight is one of some others, or waits for one of them, whatever the number of flights in between.
    ///
    /// - Complexity: O(*n*) in the number of flights and waits in between.
    func leads(from flight: ID, to others: [ID]) -> Bool {
        var (seen, open): (Set<ID>, [ID]) = ([], [flight])
        while let next = open.popLast() {
            if others.contains(next) { return true }
            if seen.insert(next).inserted { open += (waits[next] ?? []).map(\.target) }
        }
        return false
    }

    var isCircular: Bool {
        waits.contains { origin, targets in targets.contains { leads(from: $0.target, to: [origin]) } }
    }
}
