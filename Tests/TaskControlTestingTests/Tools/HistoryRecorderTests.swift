import TaskControl
import TestSupport
import Testing

@testable import TaskControlTesting

private enum RegisterOperation: Hashable, Sendable {
    case read
    case write(Int)

    static func apply(_ value: inout Int, _ operation: Self, _ reply: Int?) -> Bool {
        switch operation {
        case .write(let new):
            value = new
            return true
        case .read: return reply == nil || reply == value
        }
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct LinearizabilitySearchTests {
    private typealias Call = HistoryCall<RegisterOperation, Int>

    private func isLinearizable(_ calls: [Call]) -> Bool {
        var search = LinearizabilitySearch(calls, from: 0)
        return search.run(RegisterOperation.apply)
    }

    /// All orders that respect the calls that end before others begin, with each subset of the calls of unknown effect.
    private func isLinearizableByEnumeration(_ calls: [Call]) -> Bool {
        func search(_ rest: [Call], _ value: Int) -> Bool {
            if rest.allSatisfy({ $0.end == nil }) { return true }
            return rest.indices.contains { index in
                let call = rest[index]
                if rest.contains(where: { $0.end.map { $0.event < call.begin } ?? false }) { return false }
                var next = value
                guard RegisterOperation.apply(&next, call.operation, call.end?.reply) else { return false }
                var others = rest
                others.remove(at: index)
                return search(others, next)
            }
        }
        return search(calls, 0)
    }

    @Test func randomHistoriesAgreeWithAnEnumeration() {
        var counts = [true: 0, false: 0]
        for seed in 0..<4_000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var calls: [Call] = []
            var open: [Int] = []
            for event in 0..<12 {
                if generator.next() % 2 == 0, calls.count < 6 {
                    let operation =
                        generator.next() % 2 == 0 ? RegisterOperation.read : .write(Int(generator.next() % 3))
                    open.append(calls.count)
                    calls.append(Call(operation: operation, begin: event))
                } else if !open.isEmpty {
                    let index = open.remove(at: Int(generator.next() % UInt64(open.count)))
                    // One call in eight never ends.
                    if generator.next() % 8 > 0 { calls[index].end = (event, Int(generator.next() % 3)) }
                }
            }
            let expected = isLinearizableByEnumeration(calls)
            counts[expected]! += 1
            #expect(isLinearizable(calls) == expected, "\(calls)")
        }
        #expect(counts[true]! > 500 && counts[false]! > 500)
    }

    @Test func aLongHistoryOfOverlappingCallsIsDecidedSoon() {
        let calls = (0..<200).map { index in
            Call(operation: index % 2 == 0 ? .write(index) : .read, begin: 2 * index, end: (2 * index + 9, index - 1))
        }
        #expect(isLinearizable(calls))
        #expect(isLinearizable([]))
    }

    @Test func aStaleReadIsNotLinearizable() {
        #expect(
            !isLinearizable([
                Call(operation: .write(1), begin: 0, end: (1, 0)), Call(operation: .read, begin: 2, end: (3, 0)),
            ])
        )
    }
}

@Suite(.timeLimit(.minutes(15)), .tags(.schedules))
struct HistoryRecorderTests {
    private struct Failure: Error {}

    @Test func theErrorShowsTheLongestOrderAndTheRest() async throws {
        let history = HistoryRecorder<RegisterOperation, Int>()
        _ = await history.record(.write(1)) { 0 }
        _ = await history.record(.read) { 0 }
        await #expect(throws: Failure.self) {
            try await history.record(.write(5)) { () throws(Failure) in throw Failure() }
        }
        #expect(history.count == 3)
        let error = #expect(throws: HistoryRecorder<RegisterOperation, Int>.LinearizabilityError.self) {
            try history.checkLinearizable(from: 0, RegisterOperation.apply)
        }
        #expect(error?.description.contains("no order of its 3 calls") == true)
        #expect(error?.description.contains("  write(1) at 0…1: 0\n") == true)
        #expect(error?.description.contains("  read at 2…3: 0\n") == true)
    }

    @Test func aCallOfUnknownEffectMayHaveHappenedOrNot() async throws {
        for read in [0, 5] {
            let history = HistoryRecorder<RegisterOperation, Int>()
            _ = try? await history.record(.write(5)) { () throws(Failure) in throw Failure() }
            _ = await history.record(.read) { read }
            try history.checkLinearizable(from: 0, RegisterOperation.apply)
        }
    }

    /// Each read of the second replica may be stale.
    private struct Read: SimulatedNetwork.Request { typealias Reply = Int }
    private struct Write: SimulatedNetwork.Request {
        typealias Reply = Int
        let value: Int
    }

    private static func run(_ sim: Simulation, readsFrom reader: String) async throws {
        let network = SimulatedNetwork(in: sim, latency: .milliseconds(1) ... .milliseconds(20))
        network.addNode("backup") { process in
            process.handle(Write.self) { write in
                process.disk.write(write.value, for: "value")
                return write.value
            }
            process.handle(Read.self) { _ in process.disk.read("value") ?? 0 }
        }
        network.addNode("primary") { process in
            process.handle(Write.self) { write in
                process.disk.write(write.value, for: "value")
                process.addTask { _ = try await process.send(write, to: "backup") }
                return write.value
            }
            process.handle(Read.self) { _ in process.disk.read("value") ?? 0 }
        }
        let history = HistoryRecorder<RegisterOperation, Int>()
        try await network.run {
            await withThrowingTaskGroup { group in
                for client in 1...2 {
                    group.addTask {
                        for call in 0..<2 {
                            let value = 10 * client + call
                            _ = try await history.record(.write(value)) {
                                try await network.send(Write(value: value), to: "primary")
                            }
                            _ = try await history.record(.read) { try await network.send(Read(), to: reader) }
                        }
                    }
                }
            }
        }
        try history.checkLinearizable(from: 0, RegisterOperation.apply)
    }

    @Test(.enabled(if: Simulation.isSupported)) func aStaleReadOfAReplicaIsFound() throws {
        try simulate(seeds: 0..<100) { sim in try await Self.run(sim, readsFrom: "primary") }
        let failure = #expect(throws: Simulation.Failure.self) {
            try simulate(seeds: 0..<100) { sim in try await Self.run(sim, readsFrom: "backup") }
        }
        #expect(failure?.description.contains("the history is not linearizable") == true)
    }
}
