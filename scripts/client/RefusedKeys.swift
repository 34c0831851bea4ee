import TaskControl
import TaskControlCaching

// scripts/check-client verifies, with the isolation of a new project of Xcode, that the compiler refuses the marked lines and no other: a key is used in its
// own isolation, and a key that is not Sendable does not come out of its owner.

enum Field: Hashable { case search(String), feed }

nonisolated final class Node: Hashable {
    var number = 0
    static func == (one: Node, other: Node) -> Bool { one === other }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

func isolatedKeys(_ store: TaskStore<Field>, _ flight: SingleFlight<Field, Int>) async throws {
    store.addTask(forKey: .feed) {}
    store.cancelAll { $0 == .feed }
    _ = store.runningKeys
    _ = try await flight.value(for: .search("a")) { 1 }
    _ = CachedFlight<Field, Int>(capacity: 1, policy: CachePolicy(timeToLive: .seconds(1))) { $0 == .feed ? 1 : 2 }
}

@concurrent func elsewhere(_ store: TaskStore<Field>, _ bag: IdentifiableTaskBag<Field>, _ cache: CachedFlight<Field, Int>) async throws {
    store.addTask(forKey: .feed) {}  // refused
    store.cancelTask(forKey: .feed)  // refused
    bag.cancel(id: .feed)  // refused
    cache.invalidate(.feed)  // refused
    _ = try await withSingleFlight(key: Field.feed) { 1 }  // refused
    let owner: any TaskOwner = store
    owner.cancelAll()
}

func returnedKeys(_ store: TaskStore<Node>) {
    store.cancelAll { _ in true }  // refused
    _ = store.runningKeys  // refused
    _ = CachedFlight<Node, Int>(capacity: 1, policy: CachePolicy(timeToLive: .seconds(1))) { _ in 1 }  // refused
}
