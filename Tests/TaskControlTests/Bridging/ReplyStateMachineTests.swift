import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ReplyStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test func everyShortSequenceAgreesWithTheModel() {
        let steps = ReplyDriver().playEverySequence(upTo: 6) { $0.possibleEvents(registrations: 4) }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(200, inDebug: 20))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = ReplyDriver()
        for step in 0..<60 {
            let events = driver.possibleEvents(registrations: 40).filter { $0 != .close || step > 50 }
            driver.play(events.randomElement(using: &random)!)
        }
    }
}

private enum ReplyEvent: Equatable {
    case expect(key: Int)
    case reply(key: Int)
    case leave(registration: Int)
    case close
}

/// Three keys, and a registration for each call. A registration may leave more than once.
private struct ReplyDriver: MachineDriver {
    private var machine = ReplyStateMachine<Int>()
    private var ids: [ReplyStateMachine<Int>.ID] = []
    private var keys: [Int] = []
    /// The registrations that are expected, by key.
    private var expected: [Int: Int] = [:]
    private var isClosed = false

    var signature: Int {
        var hasher = Hasher()
        hasher.combine(keys)
        hasher.combine(expected)
        hasher.combine(isClosed)
        return hasher.finalize()
    }

    func possibleEvents(registrations: Int) -> [ReplyEvent] {
        let calls = keys.count < registrations ? (0..<3).map { ReplyEvent.expect(key: $0) } : []
        return calls + (0..<3).map { .reply(key: $0) } + keys.indices.map { .leave(registration: $0) } + [.close]
    }

    mutating func play(_ event: ReplyEvent) {
        switch event {
        case .expect(let key):
            let answer = machine.expect(_ErasedKey(key), keys.count)
            #expect((answer == nil) == isClosed, "after the end nothing is registered")
            guard let answer else { return }
            #expect(answer.superseded?.payload == expected[key], "the earlier registration is returned, to be ended")
            expected[key] = keys.count
            ids.append(answer.id)
            keys.append(key)
        case .reply(let key):
            #expect(machine.reply(to: _ErasedKey(key))?.payload == expected.removeValue(forKey: key))
        case .leave(let registration):
            let isExpected = expected[keys[registration]] == registration
            let entry = machine.leave(ids[registration])
            #expect(entry?.payload == (isExpected ? registration : nil), "never that of the successor of its key")
            if isExpected { expected[keys[registration]] = nil }
        case .close:
            let entries = machine.close()
            #expect(entries?.map(\.payload).sorted() == (isClosed ? nil : expected.values.sorted()))
            (expected, isClosed) = ([:], true)
        }
        #expect(machine.count == expected.count && machine.isClosed == isClosed)
    }
}
