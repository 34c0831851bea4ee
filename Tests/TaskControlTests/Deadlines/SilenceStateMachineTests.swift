import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct SilenceStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [0, 1, 2, 3])
    func everyShortSequenceAgreesWithTheModel(limit: Int) {
        let steps = SilenceDriver(limit: limit).playEverySequence(upTo: 12) { _ in SilenceEvent.allCases }
        #expect(steps > 50)
    }

    @Test func aLimitOfAnySizeDoesNotOverflow() {
        for limit in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
            var machine = SilenceStateMachine(limit)
            _ = machine.wait(at: .longestWait)
            #expect(machine.step(at: .longestWait) != .park)
        }
        var machine = SilenceStateMachine(.seconds(Int64.max))
        _ = machine.wait(at: .zero)
        #expect(machine.step(at: .zero) == .sleep(until: .longestWait))
    }
}

private enum SilenceEvent: CaseIterable {
    case tick, wait, receive, end, step, park
}

/// The events and their times: all that the answers follow from.
private struct SilenceModel: Hashable {
    /// The time for which the reader has waited; `nil` while it does not wait.
    var waited: Int?
    var isSilent = false
    /// Whether the reader has ended, and is not silent.
    var isOver = false
    var isParked = false
}

private struct SilenceDriver: MachineDriver {
    let limit: Int
    private var now = 0
    private var machine: SilenceStateMachine
    private var model = SilenceModel()

    init(limit: Int) {
        self.limit = limit
        machine = SilenceStateMachine(.seconds(limit))
    }

    var signature: Int { model.hashValue }

    private var time: Duration { .seconds(now) }

    private mutating func woken() -> Word? {
        defer { model.isParked = false }
        return model.isParked ? 1 : nil
    }

    mutating func play(_ event: SilenceEvent) {
        switch event {
        case .tick:
            now += 1
            model.waited = model.waited.map { $0 + 1 }
        case .wait:
            let begins = !model.isSilent && !model.isOver && model.waited == nil
            #expect(machine.wait(at: time) == (begins ? woken() : nil))
            if begins { model.waited = 0 }
        case .receive:
            if let waited = model.waited, waited >= limit { model.isSilent = true }
            model.waited = nil
            #expect(machine.receive(at: time) == !model.isSilent)
        case .end:
            model.waited = nil
            if !model.isSilent { model.isOver = true }
            #expect(machine.end() == woken())
        case .step: step()
        case .park:
            let parks = !model.isSilent && !model.isOver && model.waited == nil
            #expect(machine.park(1) == parks)
            if parks { model.isParked = true }
        }
        #expect(machine.isSilent == model.isSilent)
    }

    private mutating func step() {
        let step = machine.step(at: time)
        if model.isSilent || model.isOver { return #expect(step == .end) }
        guard let waited = model.waited else { return #expect(step == .park) }
        if waited < limit { return #expect(step == .sleep(until: .seconds(now - waited + limit))) }
        #expect(step == .cancel)
        (model.isSilent, model.waited) = (true, nil)
    }
}
