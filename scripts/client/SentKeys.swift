import TaskControl
import TaskControlCaching

// scripts/check-client verifies that the compiler refuses the marked lines and no other: a key that is not Sendable is sent to the owner that keeps it, and
// a look-up leaves it.

nonisolated final class Node: Hashable {
    var number = 0
    static func == (one: Node, other: Node) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

func sentKeys(
    _ store: TaskStore<Node>, _ bag: IdentifiableTaskBag<Node>, _ flight: SingleFlight<Node, Int>, _ cache: CachedFlight<Node, Int>
) async throws {
    let first = Node()
    store.addTask(forKey: first) {}  // refused
    first.number += 1
    let second = Node()
    bag.addTask(id: second) {}  // refused
    second.number += 1
    let third = Node()
    _ = try await flight.value(for: third) { 1 }  // refused
    third.number += 1
    let fourth = Node()
    _ = try await withSingleFlight(key: fourth) { 1 }  // refused
    fourth.number += 1
    let fifth = Node()
    _ = try await cache.value(for: fifth)  // refused
    fifth.number += 1
    let sixth = Node()
    cache.update(1, for: sixth)  // refused
    sixth.number += 1
    let seventh = Node()
    _ = cache.values(for: seventh)  // refused
    seventh.number += 1
    let kept = Node()
    store.cancelTask(forKey: kept)
    _ = store.taskIsRunning(forKey: kept)
    flight.forget(kept)
    cache.invalidate(kept)
    kept.number += 1
}
