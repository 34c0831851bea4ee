import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// A cancellation on the actor of an owner, while a value or an error for the owner waits for that actor: nothing is
/// received after it. Each form of `run(for:)` and `forEach(_:for:)`, for an object of the main actor, and for an actor.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct BusyOwnerTests {
    /// The calls of the closures of an owner.
    private struct Log {
        private(set) var isCancelled = false
        private(set) var late: [String] = []
        private(set) var ends = 0

        mutating func cancel(_ task: Task<DeliveryOutcome, Never>) {
            task.cancel()
            isCancelled = true
        }

        mutating func receive(_ text: String) {
            if isCancelled { late.append(text) }
        }

        mutating func end(_ outcome: DeliveryOutcome) {
            ends += 1
            // An outcome other than that of a cancelled task belongs to a value or an error that came before.
            if case .failed = outcome { receive("end") }
        }
    }

    /// The objects that start the work. Part of the owner, which outlives the work.
    private struct Starters {
        let lifetime = AsyncLifetime()
        let store = TaskStore<Int>()
        let slot = TaskSlot()
    }

    @MainActor private final class Screen {
        let starters = Starters()
        var log = Log()

        func cancel(_ task: Task<DeliveryOutcome, Never>) { log.cancel(task) }
    }

    private actor Book {
        let starters = Starters()
        var log = Log()

        func cancel(_ task: Task<DeliveryOutcome, Never>) { log.cancel(task) }
    }

    enum Form: CaseIterable {
        case run, runWithEnd, forEach, store, slot
    }

    /// Returns a value or an element after a few steps, or throws an error.
    @Sendable private static func work(_ fails: Bool) async throws -> Int {
        for _ in 0..<2 { await Task.yield() }
        if fails { throw MarkedError("work of a busy owner") }
        return 1
    }

    private static func elements(_ fails: Bool) -> AsyncThrowingStream<Int, any Error> {
        AsyncThrowingStream { try await work(fails) }
    }

    @MainActor
    private static func start(_ form: Form, _ fails: Bool, for screen: Screen) -> Task<DeliveryOutcome, Never> {
        let work = { @Sendable in try await Self.work(fails) }
        let deliver = { @MainActor @Sendable (screen: Screen, _: Int) in screen.log.receive("value") }
        let onError = { @MainActor @Sendable (screen: Screen, _: any Error) in screen.log.receive("error") }
        return switch form {
        case .run: screen.starters.lifetime.run(for: screen, work: work, deliver: deliver, onError: onError)
        case .runWithEnd:
            screen.starters.lifetime.run(for: screen, work: work, deliver: deliver, onEnd: { $0.log.end($1) })
        case .forEach:
            screen.starters.lifetime.forEach(elements(fails), for: screen, perform: deliver, onError: onError)
        case .store:
            screen.starters.store.run(forKey: 1, for: screen, work: work, deliver: deliver, onError: onError)
        case .slot: screen.starters.slot.run(for: screen, work: work, deliver: deliver, onError: onError)
        }
    }

    private static func start(_ form: Form, _ fails: Bool, for book: Book) -> Task<DeliveryOutcome, Never> {
        let work = { @Sendable in try await Self.work(fails) }
        let deliver = { @Sendable (book: isolated Book, _: Int) in book.log.receive("value") }
        let onError = { @Sendable (book: isolated Book, _: any Error) in book.log.receive("error") }
        return switch form {
        case .run: book.starters.lifetime.run(for: book, work: work, deliver: deliver, onError: onError)
        case .runWithEnd: book.starters.lifetime.run(for: book, work: work, deliver: deliver, onEnd: { $0.log.end($1) })
        case .forEach: book.starters.lifetime.forEach(elements(fails), for: book, perform: deliver, onError: onError)
        case .store: book.starters.store.run(forKey: 1, for: book, work: work, deliver: deliver, onError: onError)
        case .slot: book.starters.slot.run(for: book, work: work, deliver: deliver, onError: onError)
        }
    }

    @Test(arguments: Form.allCases, [false, true])
    func nothingReachesAnObjectAfterACancellationOnItsActor(_ form: Form, fails: Bool) async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 100)) { sim in
                var random = sim.random
                let screen = Screen()
                let task = await Self.start(form, fails, for: screen)
                for _ in 0..<Int.random(in: 0..<6, using: &random) { await Task.yield() }
                await screen.cancel(task)
                _ = await task.value
                let log = await screen.log
                sim.expect(log.late.isEmpty, "received after the cancellation: \(log.late)")
                sim.expect(log.ends == (form == .runWithEnd ? 1 : 0))
            }
        }
    }

    @Test(arguments: Form.allCases, [false, true])
    func nothingReachesAnActorAfterACancellationOnIt(_ form: Form, fails: Bool) async throws {
        try await offThePool {
            try simulate(seeds: Schedules.seeds(1_000, inDebug: 100)) { sim in
                var random = sim.random
                let book = Book()
                let task = Self.start(form, fails, for: book)
                for _ in 0..<Int.random(in: 0..<6, using: &random) { await Task.yield() }
                await book.cancel(task)
                _ = await task.value
                let log = await book.log
                sim.expect(log.late.isEmpty, "received after the cancellation: \(log.late)")
                sim.expect(log.ends == (form == .runWithEnd ? 1 : 0))
            }
        }
    }
}
