import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct BridgeStateMachineTests {
    /// Every sequence of events agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [true, false])
    func everyShortSequenceAgreesWithTheModel(isLeaving: Bool) {
        let steps = BridgeDriver(isLeaving: isLeaving).playEverySequence(upTo: 14) {
            $0.possibleEvents(callbacks: 4)
        }
        #expect(steps > 100)
    }

    @Test(arguments: Schedules.seeds(400, inDebug: 40))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = BridgeDriver(isLeaving: seed.isMultiple(of: 2))
        for _ in 0..<30 {
            guard let event = driver.possibleEvents(callbacks: 20).randomElement(using: &random) else { break }
            driver.play(event)
        }
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func theApiIsCalledOnce() async {
        await #expect(processExitsWith: .failure) {
            var machine = BridgeStateMachine()
            _ = machine.begin(1)
            _ = machine.begin(2)
        }
    }

    @Test(.oneProcessAtATime) func theCallerReceivesTheResultOnce() async {
        await #expect(processExitsWith: .failure) {
            var machine = BridgeStateMachine()
            _ = machine.finish(1)
            _ = machine.begin(1)
            _ = machine.begin(1)
        }
        await #expect(processExitsWith: .failure) {
            var machine = BridgeStateMachine()
            _ = machine.drop()
            _ = machine.fail()
            _ = machine.fail()
        }
        await #expect(processExitsWith: .failure) {
            var machine = BridgeStateMachine()
            _ = machine.begin(1)
            _ = machine.finish(1)
            _ = machine.collect()
            _ = machine.collect()
        }
    }
    #endif
}

private enum BridgeEvent {
    case begin, fail, park, collect, finish, drop, cancel, cancelled
}

/// The events and their order: all that the answers follow from.
private struct BridgeModel: Hashable {
    enum End: Hashable {
        case finished(Int)
        case dropped, left
    }

    enum Caller: Hashable {
        case inside, begun, parked, woken, gone
    }

    let isLeaving: Bool
    var caller = Caller.inside
    var hasFailed = false
    var first: End?
    var callbacks = 0
    var isDropped = false
    /// Whether the handle is the machine's.
    var hasHandle = false
    /// Whether the handle is being cancelled: until that has returned, no waiter is resumed.
    var isCancelling = false
    /// A callback that comes too late is this, once.
    var excuse: ExcessCallback?

    /// Ends it, if that has not happened.
    ///
    /// - Returns: The waiter; `nil`: the bridge had ended.
    mutating func end(_ end: End) -> (handle: Int?, waiter: Int?)? {
        if first != nil || hasFailed { return nil }
        first = end
        return (takeHandle(), isCancelling ? nil : takeWaiter())
    }

    mutating func takeWaiter() -> Int? {
        guard first != nil, caller == .parked else { return nil }
        caller = .woken
        return 7
    }

    mutating func takeHandle() -> Int? {
        defer { hasHandle = false }
        return hasHandle ? 5 : nil
    }
}

/// Plays events to the machine and to the model, and compares what they say.
private struct BridgeDriver: MachineDriver {
    typealias Machine = BridgeStateMachine

    private var machine = Machine()
    private var model: BridgeModel

    init(isLeaving: Bool) {
        model = BridgeModel(isLeaving: isLeaving)
    }

    var signature: Int { model.hashValue }

    func possibleEvents(callbacks: Int) -> [BridgeEvent] {
        var events: [BridgeEvent] = []
        switch model.caller {
        case .inside: events += [.begin, .fail]
        case .begun: events += [.park, .cancel]
        case .parked: events += [.cancel]
        case .woken: events += [.collect, .cancel]
        case .gone: if !model.hasFailed, model.first != nil { events += [.cancel] }
        }
        if model.isCancelling { events += [.cancelled] }
        // A callback without a reference cannot be called.
        if !model.isDropped { events += [.drop] }
        if !model.isDropped, model.callbacks < callbacks { events += [.finish] }
        return events
    }

    mutating func play(_ event: BridgeEvent) {
        defer { #expect((machine.handle != nil) == model.hasHandle, "the machine has the handle until it returns it") }
        switch event {
        case .begin:
            let outcome = machine.begin(5)
            if case .finished(let number) = model.first {
                #expect(outcome?.number == number, "what has called back needs no waiter")
                model.caller = .gone
            } else {
                #expect(outcome == nil)
                model.caller = .begun
                model.hasHandle = model.first == nil
            }
        case .fail:
            let outcome = machine.fail()
            model.caller = .gone
            if case .finished(let number) = model.first {
                #expect(outcome?.number == number, "the first counts")
            } else {
                #expect(outcome == nil)
                if model.first == nil { model.excuse = .afterFailure }
                model.hasFailed = true
            }
        case .park:
            let isToWait = machine.park(7)
            #expect(isToWait == (model.first == nil || model.isCancelling))
            model.caller = isToWait ? .parked : .woken
        case .collect:
            switch (machine.collect(), model.first) {
            case (.finished(let outcome), .finished(let number)): #expect(outcome.number == number)
            case (.dropped, .dropped), (.left, .left): break
            case (let ending, let first): Issue.record("\(ending), not \(String(describing: first))")
            }
            #expect(!model.hasHandle && !model.isCancelling, "the handle is released before the caller goes on")
            model.caller = .gone
        case .finish:
            model.callbacks += 1
            let finishing = machine.finish(Word(model.callbacks))
            guard let expected = model.end(.finished(model.callbacks)) else {
                if case .excess(let excess) = finishing {
                    #expect(excess == model.excuse ?? .again)
                } else {
                    Issue.record("the first counts")
                }
                model.excuse = nil
                return
            }
            if case .first(let waking) = finishing {
                #expect((waking.handle?.number, waking.waiter?.number) == expected)
            } else {
                Issue.record("this is the first")
            }
        case .drop:
            model.isDropped = true
            let waking = machine.drop()
            #expect((waking.handle?.number, waking.waiter?.number) == model.end(.dropped) ?? (nil, nil))
        case .cancel:
            let handle = machine.cancel(isLeaving: model.isLeaving)
            let expected = model.takeHandle()
            #expect(handle?.number == expected, "the handle is cancelled once, and not after the end")
            guard expected != nil else { return }
            model.isCancelling = true
            guard model.isLeaving else { return }
            model.first = .left
            model.excuse = .afterCancellation
        case .cancelled:
            model.isCancelling = false
            #expect(machine.cancelled()?.number == model.takeWaiter(), "the caller goes on when the handle is released")
        }
    }
}
