import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFanOut

/// Bounded fan-outs under many schedules: the limit, the order, the first error, and nothing that is left running.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct FanOutSimulationTests {
    /// 100 programs under 1,000 schedules each.
    @Test(arguments: FanOutFace.allCases)
    func randomProgramsAgreeWithTheModel(face: FanOutFace) async throws {
        try await offThePool {
            for number in 0..<100 as Range<UInt64> {
                let program = FanOutProgram(seed: number)
                try simulate(seeds: Schedules.seeds(1_000, inDebug: 3)) { sim in
                    sim.note("program \(number) for \(face)")
                    try await program.run(sim, face)
                }
            }
        }
    }

    /// The first operation takes long, results wait behind it, and another operation fails: nothing begins beyond the limit, all work ends before the
    /// error is thrown, and no result was delivered.
    @Test func errorAndSlowHead() async throws {
        try await race { sim in
            let (head, running, begun) = (Gate(), Locked(0), Locked(0))
            let consumed = Locked<[Int]>([])
            do {
                try await (0..<20).concurrentMap(limit: 4) { number in
                    begun.withLock { $0 += 1 }
                    running.withLock { $0 += 1 }
                    defer { running.withLock { $0 -= 1 } }
                    switch number {
                    case 0: try await head.wait()
                    case 3:
                        await Task.yield()
                        throw MarkedError("3")
                    default: await Task.yield()
                    }
                    return number
                } forEach: { number in
                    consumed.withLock { $0.append(number) }
                }
                sim.expect(false, "an operation has failed")
            } catch {
                sim.expect(error is MarkedError, "\(error)")
            }
            sim.expect(running.withLock { $0 } == 0, "all operations have ended")
            sim.expect(begun.withLock { $0 } <= 4, "finished results behind a slow one keep their places")
            sim.expect(consumed.withLock { $0.isEmpty }, "no result overtakes the head")
        }
    }

    /// The loop over the results is left, or cancelled, while operations end: all work ends, without a result that is not taken.
    @Test func theIteratorIsReleasedWhileOperationsEnd() async throws {
        try await race { sim in
            let (running, source) = (Locked(0), FanOutSource(count: 20, errorAt: nil))
            let consumer = Task {
                var taken: [Int] = []
                for try await number in source.concurrentMap(
                    limit: 3,
                    { number in
                        running.withLock { $0 += 1 }
                        defer { running.withLock { $0 -= 1 } }
                        await Task.yield()
                        return number
                    }
                ) {
                    taken.append(number)
                    if number == 5 { break }
                }
                return taken
            }
            sim.cancelAtAnyPoint(consumer)
            switch await consumer.result {
            case .success(let taken): sim.expect(taken == Array(0...5), "\(taken)")
            case .failure(let error):
                sim.expect(error is CancellationError, "\(error)")
                sim.expect(running.withLock { $0 } == 0, "a cancelled caller waits for the end")
            }
            try await Task.sleep(for: .seconds(1))
            sim.expect(running.withLock { $0 } == 0, "all operations have ended")
            sim.expect(source.pulled <= 6 + 3, "no element is pulled without a free place")
        }
    }
}

/// The forms of a fan-out.
enum FanOutFace: CaseIterable, Sendable {
    case array, forEach, consumer, asyncConsumer, asyncForEach, asyncSequence

    /// Whether results that were not taken keep their places.
    var countsResults: Bool { self == .consumer || self == .asyncConsumer || self == .asyncSequence }
}

/// A number of elements, of which each may be slow to come, and which may end with an error.
final class FanOutSource: AsyncSequence, Sendable {
    private let count: Int
    private let errorAt: Int?
    private let state = Locked(0)

    init(count: Int, errorAt: Int?) { (self.count, self.errorAt) = (count, errorAt) }

    /// How many elements were returned.
    var pulled: Int { state.withLock { $0 } }

    func makeAsyncIterator() -> Iterator { Iterator(source: self) }

    struct Iterator: AsyncIteratorProtocol {
        let source: FanOutSource

        func next() async throws -> Int? {
            if source.pulled % 3 == 1 { await Task.yield() }
            if source.pulled == source.errorAt { throw MarkedError("source") }
            if source.pulled == source.count { return nil }
            return source.state.withLock { pulled in
                pulled += 1
                return pulled - 1
            }
        }
    }
}

/// A random fan-out: operations that yield, sleep or fail, a consumer that may be slow or fail, and a caller that may be cancelled.
private struct FanOutProgram: Sendable {
    enum Work: Sendable { case value, yields, sleeps(Int), fails, ignoresCancellation }

    let work: [Work]
    let limit: Int
    let order: FanOutOrder
    let isCancelled: Bool
    let consumerFailsAt: Int?
    let sourceFailsAt: Int?

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let failures = Bool.random(using: &random)
        let count = Int.random(in: 0...9, using: &random)
        work = (0..<count).map { _ in
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<3: .value
            case 3..<7: .yields
            case 7..<9: .sleeps(Int.random(in: 1...3, using: &random))
            case 9: .ignoresCancellation
            default: failures ? .fails : .yields
            }
        }
        limit = Int.random(in: 1...4, using: &random)
        order = Bool.random(using: &random) ? .source : .completion
        isCancelled = Int.random(in: 0..<3, using: &random) == 0
        consumerFailsAt = Int.random(in: 0..<6, using: &random) == 0 ? count / 2 : nil
        sourceFailsAt = Int.random(in: 0..<6, using: &random) == 0 ? count / 2 : nil
    }

    func run(_ sim: Simulation, _ face: FanOutFace) async throws {
        let world = FanOutWorld(sim, self, face)
        let caller = Task { try await world.call() }
        if isCancelled { sim.cancelAtAnyPoint(caller) }
        world.check(await caller.result)
    }
}

/// One fan-out, and what the program says about it.
private final class FanOutWorld: Sendable {
    private struct State {
        var running = 0
        var begun = 0
        /// The operations that have returned a value, in that order.
        var ended: [Int] = []
        var taken: [Int] = []
    }

    private let sim: Simulation
    private let program: FanOutProgram
    private let face: FanOutFace
    private let source: FanOutSource
    private let state = Locked(State())

    init(_ sim: Simulation, _ program: FanOutProgram, _ face: FanOutFace) {
        (self.sim, self.program, self.face) = (sim, program, face)
        source = FanOutSource(count: program.work.count, errorAt: program.sourceFailsAt)
    }

    func call() async throws {
        let (limit, order, numbers) = (program.limit, program.order, 0..<program.work.count)
        switch face {
        case .array:
            let taken = try await numbers.concurrentMap(limit: limit, order: order) { try await self.operation($0) }
            state.withLock { $0.taken = taken }
        case .forEach: try await numbers.concurrentForEach(limit: limit) { _ = try await self.operation($0) }
        case .consumer:
            try await numbers.concurrentMap(limit: limit, order: order) {
                try await self.operation($0)
            } forEach: {
                try await self.consume($0)
            }
        case .asyncConsumer:
            try await source.concurrentMap(limit: limit, order: order) {
                try await self.operation($0)
            } forEach: {
                try await self.consume($0)
            }
        case .asyncForEach: try await source.concurrentForEach(limit: limit) { _ = try await self.operation($0) }
        case .asyncSequence:
            for try await number in source.concurrentMap(limit: limit, order: order, { try await self.operation($0) }) {
                try await consume(number)
            }
        }
    }

    private func operation(_ number: Int) async throws -> Int {
        state.withLock { state in
            state.running += 1
            state.begun += 1
            sim.expect(state.running <= program.limit, "the limit holds")
            if face.countsResults {
                sim.expect(state.begun - state.taken.count <= program.limit, "results that wait have places")
            }
        }
        defer { state.withLock { $0.running -= 1 } }
        switch program.work[number] {
        case .value: break
        case .yields: await Task.yield()
        case .sleeps(let time): try await Task.sleep(for: .milliseconds(time))
        case .fails:
            await Task.yield()
            throw MarkedError("operation")
        case .ignoresCancellation: for _ in 0..<4 { await Task.yield() }
        }
        state.withLock { $0.ended.append(number) }
        return number
    }

    private func consume(_ number: Int) async throws {
        let count = state.withLock { state in
            state.taken.append(number)
            return state.taken.count
        }
        await Task.yield()
        if count - 1 == program.consumerFailsAt { throw MarkedError("consumer") }
    }

    func check(_ result: Result<Void, any Error>) {
        let state = state.withLock { $0 }
        // A loop that throws releases its iterator, which does not wait.
        let isLeft = face == .asyncSequence && program.consumerFailsAt != nil
        sim.expect(isLeft || state.running == 0, "all operations have ended")
        let hasTaken = face != .forEach && face != .asyncForEach
        switch result {
        case .success:
            sim.expect(state.ended.count == program.work.count, "all operations have returned")
            if hasTaken {
                let expected = Array(0..<program.work.count)
                sim.expect(state.taken.sorted() == expected, "each result is taken once")
                sim.expect(program.order == .completion || state.taken == expected, "in the order of the source")
            }
        case .failure(let error):
            sim.expect(error is MarkedError || error is CancellationError && program.isCancelled, "\(error)")
            if hasTaken, program.order == .source {
                sim.expect(state.taken == Array(0..<state.taken.count), "in the order of the source, without gaps")
            }
        }
    }
}
