import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlSnapshot

/// Snapshots of random programs, taken at random moments: they show what the programs themselves say that they do.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SnapshotSimulationTests {
    @Test func everySnapshotAgreesWithTheModel() async throws {
        let taken = Locked(0)
        let seen = Locked<Set<String>>([])
        try await offThePool {
            try simulate(seeds: Schedules.seeds(2_000, inDebug: 40)) { sim in
                let books = Locked(TrackerStateMachine(limit: 1_000))
                let world = SnapshotWorld()
                @Sendable func look() {
                    let snapshot = books.withLock { $0 }.snapshot(at: .zero)
                    taken.withLock { $0 += 1 }
                    let wrong = world.differences(from: snapshot)
                    sim.expect(wrong.isEmpty, "\(wrong)\n\(snapshot)")
                    // These programs all come to an end.
                    sim.expect(!snapshot.hasCircles, "\(snapshot)")
                    seen.withLock { $0.formUnion(snapshot.shapes) }
                }
                _ = await EventLog.events { event in
                    books.withLock { $0.receive(event) }
                } of: {
                    for _ in 0..<8 { sim.atAnyPoint(look) }
                    await world.run(sim)
                }
                let left = books.withLock { $0 }.snapshot(at: .zero)
                sim.expect(left.owners.allSatisfy(\.entries.isEmpty) && left.others.isEmpty, "left: \(left)")
                sim.expect(left.warnings.isEmpty)
            }
        }
        if Schedules.areAll {
            #expect(taken.withLock { $0 } >= 10_000)
            // A part of the seeds may miss some of them.
            for shape in [
                "FIFOQueue running", "FIFOQueue waiting", "AsyncTask running", "TaskBag running", "TaskStore waiting",
                "AsyncSemaphore waiting", "AsyncSemaphore running", "SingleFlight running", "retry waiting",
                "withTimeout running", "cancelled",
            ] {
                #expect(seen.withLock { $0.contains(shape) }, "\(shape) was never seen")
            }
        }
    }
}

/// Programs that say what they do.
private struct SnapshotWorld {
    /// The state of one of them, as far as it can know.
    private enum Doing: Hashable {
        case waiting, running
        /// It waits, and was cancelled: it may have left already.
        case leaving
    }

    private let model = Locked<[String: Doing]>([:])
    private let lifetime = AsyncLifetime()
    private let bag = TaskBag()
    private let store = TaskStore<Int>()
    private let queue = FIFOQueue()
    private let flights = SingleFlight<Int, Int>()
    private let semaphore = AsyncSemaphore(value: 1)

    private func say(_ name: String, _ doing: Doing?) { model.withLock { $0[name] = doing } }

    /// Returns the entries of a snapshot that differ from the state of their subjects.
    func differences(from snapshot: TaskSnapshot) -> [String] {
        let entries = snapshot.all
        var shown: [String: TaskSnapshot.Entry] = [:]
        var wrong: [String] = []
        for entry in entries where !entry.isUnknowable {
            let name = entry.name ?? "nobody"
            if shown[name] != nil { wrong.append("\(name) is there twice") }
            shown[name] = entry
        }
        let model = model.withLock { $0 }
        for name in Set(model.keys).union(shown.keys).sorted() {
            switch (model[name], shown[name]?.phase) {
            case (.waiting, .waiting), (.running, .running), (.leaving, .waiting), (.leaving, nil): break
            case (let expected, let found):
                wrong.append("\(name): \(expected.map { "\($0)" } ?? "gone"), shown \(found.map { "\($0)" } ?? "not")")
            }
        }
        // A subject waits only for subjects that are in the snapshot.
        let ids = Set(entries.map(\.id))
        for entry in entries where !ids.isSuperset(of: entry.waitsFor) {
            wrong.append("\(entry.id) waits for who is gone")
        }
        return wrong
    }

    // MARK: The programs

    func run(_ sim: Simulation) async {
        var random = sim.random
        var tasks: [Task<Void, Never>] = []
        /// Those that owners can cancel.
        var owned: [String] = []
        for number in 0..<12 {
            let key = Int.random(in: 0..<2, using: &random)
            let name = "\(number)"
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                owned.append(name)
                say(name, .waiting)
                AsyncTask(name: name) { await works(name) }.bind(to: lifetime)
            case 1:
                owned.append(name)
                say(name, .waiting)
                bag.addTask(name: name) { await works(name) }
            case 2, 3:
                owned.append(name)
                say(name, .waiting)
                store.addTask(forKey: key, duplicateKeyBehavior: .wait, name: name) { await works(name) }
            case 4:
                say(name, .waiting)
                tasks.append(Task(name: name, on: queue) { await works(name) })
            case 5:
                tasks.append(
                    called(name) {
                        try await semaphore.withPermit {
                            await works(name)
                            say(name, .running)
                        }
                    }
                )
            case 6:
                // The first caller gives the flight its name; callers that join are not shown.
                tasks.append(
                    Task(name: name) {
                        _ = try? await flights.value(for: key) {
                            await works(Diagnostics.currentTaskName ?? "")
                            return 1
                        }
                    }
                )
            case 7:
                tasks.append(
                    Task(name: name) {
                        _ = try? await retry(attempts: 3, backoff: .fixed(.milliseconds(1))) { attempt in
                            if attempt > 1 { say(name, .running) }
                            await Task.yield()
                            say(name, .waiting)
                            throw Oops()
                        }
                        say(name, nil)
                    }
                )
            default:
                tasks.append(
                    called(name) {
                        try await withTimeout(.milliseconds(1)) {
                            say(name, .running)
                            await Task.yield()
                            try? await Task.sleep(for: .milliseconds(2 * key))
                        }
                    }
                )
            }
        }
        // In a task, since what happens outside of all is not heard here.
        tasks.append(
            Task { [owned] in
                await Task.yield()
                cancel(owned)
            }
        )
        for task in tasks { await task.value }
        try? await lifetime.drain()
        try? await store.drain()
        try? await bag.registry.drain()
        try? await queue.drain()
        while flights._flights.liveCount > 0 { await Task.yield() }
    }

    private func works(_ name: String) async {
        say(name, .running)
        await Task.yield()
        await Task.yield()
        say(name, nil)
    }

    /// A call in a task of its own.
    private func called(_ name: String, _ call: @escaping @Sendable () async throws -> Void) -> Task<
        Void, Never
    > {
        Task(name: name) {
            say(name, .waiting)
            _ = try? await call()
            say(name, nil)
        }
    }

    private func cancel(_ owned: [String]) {
        model.withLock { model in
            for name in owned where model[name] == .waiting { model[name] = .leaving }
        }
        bag.cancel()
        store.cancelAll()
        lifetime.cancelAll()
    }

    private struct Oops: Error {}
}

extension TaskSnapshot {
    /// All entries, those within others too.
    fileprivate var all: [Entry] {
        func within(_ entries: [Entry]) -> [Entry] { entries.flatMap { [$0] + within($0.calls) } }
        return within(others + owners.flatMap(\.entries))
    }

    fileprivate var hasCircles: Bool {
        warnings.contains { if case .waitsForItself = $0 { true } else { false } }
    }

    fileprivate var shapes: Set<String> {
        Set(
            all.map { "\($0.primitive) \($0.phase.rawValue)" }
                + (all.contains { $0.cancelledAge != nil } ? ["cancelled"] : [])
        )
    }
}

extension TaskSnapshot.Entry {
    /// Whether the program can't say when that begins or ends: a flight before its work, a wait of the body itself for an owner to be empty.
    fileprivate var isUnknowable: Bool {
        primitive == .singleFlight && phase == .waiting || Int(name ?? "") == nil
    }
}
