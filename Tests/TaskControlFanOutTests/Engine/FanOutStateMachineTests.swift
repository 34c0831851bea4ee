import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlFanOut

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct FanOutStateMachineTests {
    /// Every sequence of events with few elements agrees with the model; sequences that lead to the same state continue as one.
    @Test(arguments: [FanOutOrder.source, .completion], [1, 2, 3])
    func everyShortSequenceAgreesWithTheModel(order: FanOutOrder, limit: Int) {
        let steps = FanOutDriver(limit: limit, order: order).playEverySequence(upTo: fullSize(24, inDebug: 16)) {
            $0.possibleEvents(elements: fullSize(9, inDebug: 7))
        }
        #expect(steps > 400)
    }

    /// Long programs with large limits, in which the ring grows and wraps around.
    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = FanOutDriver(limit: [1, 5, 17, .max][Int(seed % 4)], order: seed % 8 < 4 ? .source : .completion)
        for step in 0..<800 {
            // The end comes late.
            let events = driver.possibleEvents(elements: 400).filter {
                step > 700 || ($0 != .endSource && $0 != .stop)
            }
            driver.play(events.randomElement(using: &random)!)
        }
    }

    @Test(arguments: [0, -1, .min])
    func aLimitBelowOneCountsAsOne(limit: Int) {
        var machine = FanOutStateMachine<Int>(limit: limit, order: .source)
        #expect(machine.place() == .free)
        #expect(machine.start() == 0)
        #expect(machine.place() == .wait)
    }
}

private enum FanOutEvent: Hashable {
    case start, endSource, finish(Int), stop, take, parkPuller, parkConsumer, wakeConsumer
}

/// Lists that are searched for each answer: which operations run, and which results were not taken.
private struct FanOutModel: Hashable {
    enum Phase { case open, ended, stopped }

    let limit: Int
    let order: FanOutOrder
    var phase = Phase.open
    var started = 0
    var taken = 0
    var running: [Int] = []
    /// In the order in which the operations ended.
    var results: [Int] = []
    var isPullerParked = false
    var isConsumerParked = false

    var inUse: Int { phase == .stopped ? started - taken : running.count + results.count }
    var isPlaceFree: Bool { phase == .open && inUse < limit }
    var next: Int? {
        switch order {
        case .completion: results.first
        case .source: results.min().flatMap { first in running.contains { $0 < first } ? nil : first }
        }
    }
    var isOver: Bool { phase == .ended && inUse == 0 }
    var isSomethingThere: Bool { phase == .stopped || isOver || next != nil }
}

/// Plays events to the machine and to the model, and compares their answers.
private struct FanOutDriver: MachineDriver {
    private static let (puller, consumer): (Word, Word) = (1, 2)

    private var machine: FanOutStateMachine<Int>
    private var model: FanOutModel

    init(limit: Int, order: FanOutOrder) {
        machine = FanOutStateMachine(limit: limit, order: order)
        model = FanOutModel(limit: limit, order: order)
    }

    var signature: Int { model.hashValue }

    func possibleEvents(elements: Int) -> [FanOutEvent] {
        var events: [FanOutEvent] = [.take, .stop, .wakeConsumer]
        if !model.isPullerParked { events.append(.parkPuller) }
        if !model.isConsumerParked { events.append(.parkConsumer) }
        if model.isPlaceFree, model.started < elements { events.append(.start) }
        // A stopped fan-out may still start the element that its puller has received.
        if model.phase == .stopped, model.inUse < model.limit, model.started < elements { events.append(.start) }
        if !model.isPullerParked { events.append(.endSource) }
        return events + model.running.map { .finish($0) }
    }

    mutating func play(_ event: FanOutEvent) {
        switch event {
        case .start:
            #expect(machine.start() == model.started)
            model.running.append(model.started)
            model.started += 1
        case .endSource:
            if model.phase == .open { model.phase = .ended }
            expectWoken(machine.endSource())
        case .finish(let number):
            let woken = machine.finish(number, number)
            model.running.removeAll { $0 == number }
            if model.phase != .stopped { model.results.append(number) }
            expectWoken(woken)
        case .stop:
            let stop = machine.stop()
            #expect(stop.isFirst == (model.phase != .stopped))
            model.phase = .stopped
            #expect(stop.puller == (model.isPullerParked ? Self.puller : nil))
            #expect(stop.dropped.compactMap { $0 }.sorted() == model.results.sorted(), "the results are handed out")
            model.results = []
            model.isPullerParked = false
            expectWoken(stop.consumer)
        case .take: take()
        case .parkPuller:
            let place = machine.park(puller: Self.puller)
            #expect(place == expectedPlace)
            model.isPullerParked = place == .wait
        case .parkConsumer:
            let isParked = machine.park(consumer: Self.consumer)
            #expect(isParked == !model.isSomethingThere)
            model.isConsumerParked = isParked
        case .wakeConsumer:
            #expect(machine.wakeConsumer() == (model.isConsumerParked ? Self.consumer : nil))
            model.isConsumerParked = false
        }
        #expect(machine.place() == expectedPlace)
        #expect(machine.inUse == model.inUse)
        machine.checkInvariants()
    }

    private var expectedPlace: FanOutStateMachine<Int>.Place {
        if model.phase != .open { return .stop }
        return model.isPlaceFree ? .free : .wait
    }

    private mutating func take() {
        let taken = machine.take()
        switch taken.step {
        case .value(let value):
            #expect(value == model.next && model.phase != .stopped)
            model.results.removeAll { $0 == value }
            model.taken += 1
            #expect(taken.puller == (model.isPullerParked ? Self.puller : nil), "a place is free")
            model.isPullerParked = false
        case .wait: #expect(!model.isSomethingThere && taken.puller == nil)
        case .over: #expect(model.isOver && taken.puller == nil)
        case .stopped: #expect(model.phase == .stopped && taken.puller == nil)
        }
    }

    /// The consumer is woken as soon as there is something for it, and not before.
    private mutating func expectWoken(_ woken: Word?) {
        #expect(woken == (model.isConsumerParked && model.isSomethingThere ? Self.consumer : nil))
        if woken != nil { model.isConsumerParked = false }
    }
}
