import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct KeyedFIFOQueueTests {
    private final class NotSendable {
        var number = 0
    }

    @Test @MainActor func theBodyRunsInTheCallersIsolationAndItsValueIsReturned() async throws {
        let queue = KeyedFIFOQueue<String>()
        let object = NotSendable()
        let result = try await queue.run(forKey: "a") {
            MainActor.preconditionIsolated()
            object.number += 1
            await Task.yield()
            return object
        }
        #expect(result === object && object.number == 1)
    }

    private actor Accounts {
        private var balances: [String: Int] = [:]
        private let turns = KeyedFIFOQueue<String>()

        /// Without turns others would come in between.
        func add(_ amount: Int, to name: String) async throws {
            try await turns.run(forKey: name) {
                let before = balances[name, default: 0]
                await Task.yield()
                balances[name] = before + amount
            }
        }

        func balance(of name: String) -> Int? { balances[name] }
    }

    @Test func anActorsStateOfOneKeyIsItsOwnForATurn() async throws {
        let accounts = Accounts()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask { try await accounts.add(1, to: number.isMultiple(of: 2) ? "a" : "b") }
            }
            try await group.waitForAll()
        }
        #expect(await accounts.balance(of: "a") == 100)
        #expect(await accounts.balance(of: "b") == 100)
    }

    @Test @MainActor func callsOfOneKeyTakeTurnsInTheirOrderAndOtherKeysDoNotWait() async throws {
        let (queue, gate, log) = (KeyedFIFOQueue<String>(), Gate(), OrderRecorder<Int>())
        let calls = (0..<5).map { number in
            Task { @MainActor in
                try await queue.run(forKey: "a") {
                    if number == 0 { try await gate.wait() }
                    log.record(number)
                }
            }
        }
        await Task { @MainActor in }.value
        try await queue.run(forKey: "b") { log.record(9) }
        gate.open()
        for call in calls { try await call.value }
        #expect(log.events == [9, 0, 1, 2, 3, 4])
    }

    @Test @MainActor func aCallerThatIsCancelledBeforeItsTurnLeavesAtOnce() async throws {
        let (queue, gate) = (KeyedFIFOQueue<Int>(), Gate())
        let first = Task { @MainActor in try await queue.run(forKey: 1) { try await gate.wait() } }
        let second = Task { @MainActor in try await queue.run(forKey: 1) { Issue.record("it was cancelled") } }
        await Task { @MainActor in }.value
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        gate.open()
        try await first.value
        #expect(queue._lines.keyCount == 0)
    }

    @Test func aKeyThatIsIdleIsForgotten() async throws {
        let queue = KeyedFIFOQueue<Int>()
        for key in 0..<1_000 {
            try await queue.run(forKey: key) { #expect(queue._lines.keyCount == 1) }
        }
        await #expect(throws: MarkedError()) { try await queue.run(forKey: 1) { throw MarkedError() } }
        #expect(queue._lines.keyCount == 0)
    }

    @Test func aCallThatWouldWaitForItselfThrows() async throws {
        let queue = KeyedFIFOQueue<Int>(name: "turns")
        try await queue.run(forKey: 1) {
            let error = await #expect(throws: ReentrancyError.self) { try await queue.run(forKey: 1) {} }
            #expect(error?.queueName?.hasPrefix("turns") == true, "with the key while events are observed")
            _ = try await queue.run(forKey: 2) {
                await #expect(throws: ReentrancyError.self, "also through another key") {
                    try await queue.run(forKey: 1) {}
                }
            }
        }
        #expect(queue._lines.keyCount == 0)
        #expect(try await queue.run(forKey: 1) { 7 } == 7)
    }

    @Test func aTurnIsToldWithItsKey() async throws {
        let events = try await EventLog.events {
            try await KeyedFIFOQueue<Int>(name: "turns").run(forKey: 7) {}
        }
        #expect(events.map(\.kind) == [.created, .enqueued, .started, .completed, .deallocated])
        #expect(events.unpaired == [] && events.allSatisfy { $0.ownerName == "turns: 7" })
    }
}
