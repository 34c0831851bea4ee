import TaskControl
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ExchangeStateMachineTests {
    /// All sequences of fourteen events, with a transfer that can be paused and with one that cannot.
    @Test(arguments: [nil, 1])
    func agreesWithItsModel(_ limit: Int?) {
        let steps = ExchangeDriver(limit: limit).playEverySequence(upTo: 14) { $0.possible }
        #expect(steps > 5_000)
    }

    /// All sequences of fourteen events, with a reader that fetches the parts itself and never parks.
    @Test func agreesWithItsModelWhereTheReaderFetches() {
        let steps = ExchangeDriver(limit: nil, fetches: true).playEverySequence(upTo: 14) { $0.possible }
        #expect(steps > 5_000)
    }

    @Test func aWaiterIsHandedBackIfSomethingHasArrived() {
        var machine = ExchangeStateMachine<Int, Int>(limit: nil)
        let starts = machine.start()
        #expect(starts)
        _ = machine.didStart()
        guard case .wait = machine.takeHead() else { return #expect(Bool(false), "there is no head yet") }
        let woken = machine.receive(head: 1).wake
        let handedBack = machine.park(5)
        #expect(woken == nil && handedBack == 5)
    }

    /// The network library may deliver data without bytes, also before the head.
    @Test func aPartWithoutBytesIsNotDelivered() {
        var machine = ExchangeStateMachine<Int, Int>(limit: nil)
        _ = machine.start()
        _ = machine.didStart()
        let early = machine.receive(part: 0, bytes: 0)
        #expect(early.wake == nil && early.command == nil && machine.isOpen)
        _ = machine.receive(head: 1)
        _ = machine.takeHead()
        let handedBack = machine.park(5)
        let empty = machine.receive(part: 1, bytes: 0).wake
        let woken = machine.receive(part: 2, bytes: 1).wake
        #expect(handedBack == nil && empty == nil && woken == 5)
        guard case .value(2) = machine.takePart().0 else {
            return #expect(Bool(false), "the part with a byte is first")
        }
    }
}

/// Plays the machine beside a model that keeps everything and searches through it.
struct ExchangeDriver: MachineDriver {
    enum Event: Hashable {
        case start, didStart, head, part, lastHead, last, fail, end, endWithError
        case cancel, leave, take, park
    }

    private struct Broken: Error {}

    struct Model: Hashable {
        enum Stage: Hashable { case idle, starting, running, over }
        enum Outcome: Hashable { case open, whole, network, malformed }
        enum Head: Hashable { case none, here, taken }

        var stage = Stage.idle
        var outcome = Outcome.open
        var head = Head.none
        var parts: [Int] = []
        var nextPart = 0
        var isTransferCancelled = false
        var isPaused = false
        /// 1: cancelled, 2: left.
        var abandoned = 0
        var isParked = false
        var mustPark = false

        var isOpen: Bool { outcome == .open && abandoned == 0 }
        var hasSomething: Bool { !isOpen || head == .here || !parts.isEmpty }
        /// Whether the transfer must be cancelled, since its result has no reader.
        var isTransferObsolete: Bool { !isOpen && stage == .running && !isTransferCancelled }
    }

    private var machine: ExchangeStateMachine<Int, Int>
    private var model = Model()
    private let limit: Int?
    /// Whether the reader fetches the parts from the transfer itself, and never parks.
    private let fetches: Bool

    init(limit: Int?, fetches: Bool = false) {
        machine = ExchangeStateMachine(limit: limit)
        self.limit = limit
        self.fetches = fetches
    }

    var signature: Int { model.hashValue }

    var possible: [Event] {
        var events: [Event] = [.cancel, .leave]
        switch model.stage {
        case .idle: events.append(.start)
        case .starting: events += [.didStart, .head, .part, .lastHead, .last, .fail, .end, .endWithError]
        case .running: events += [.head, .part, .lastHead, .last, .fail, .end, .endWithError]
        case .over: break
        }
        if !model.isParked { events.append(model.mustPark && !fetches ? .park : .take) }
        return events.filter { $0 != .part || model.nextPart < 4 }
    }

    mutating func play(_ event: Event) {
        switch event {
        case .start:
            let starts = machine.start()
            #expect(starts == (model.abandoned == 0))
            if model.abandoned == 0 { model.stage = .starting }
        case .didStart:
            let action = machine.didStart()
            model.stage = .running
            expect(action)
        case .head:
            let action = machine.receive(head: 7)
            if model.isOpen, model.head == .none { model.head = .here }
            expect(action)
        case .part:
            let action = machine.receive(part: model.nextPart, bytes: 1)
            if model.isOpen {
                if model.head == .none { model.outcome = .malformed } else { model.parts.append(model.nextPart) }
            }
            model.nextPart += 1
            expect(action, mayPause: true)
        case .lastHead, .last:
            let action = machine.receiveLast(head: event == .last ? nil : 7)
            if model.isOpen {
                if event == .lastHead, model.head == .none { model.head = .here }
                model.outcome = model.head == .none ? .malformed : .whole
            }
            expect(action)
        case .fail:
            let action = machine.fail(.malformed)
            if model.isOpen { model.outcome = .malformed }
            expect(action)
        case .end, .endWithError:
            let action = machine.end(event == .end ? nil : Broken())
            model.stage = .over
            if model.isOpen { model.outcome = event == .end ? model.head == .none ? .malformed : .whole : .network }
            expect(action)
        case .cancel, .leave:
            let action = event == .cancel ? machine.cancel() : machine.leave()
            if model.abandoned == 0 {
                model.abandoned = event == .cancel ? 1 : 2
                model.parts = []
                if model.head == .here { model.head = .none }
            }
            expect(action)
        case .park:
            let handedBack = machine.park(1)
            #expect((handedBack != nil) == model.hasSomething)
            model.mustPark = false
            model.isParked = handedBack == nil
        case .take: take()
        }
        #expect(machine.isOpen == model.isOpen)
        // The next part for a reader: a state that differs from the model only there is not searched further.
        var reader = self
        reader.take()
    }

    /// Compares the action after an event with the one that the model's new state requires.
    private mutating func expect(_ action: ExchangeStateMachine<Int, Int>.Action, mayPause: Bool = false) {
        let wakes = model.isParked && model.hasSomething
        #expect((action.wake != nil) == wakes)
        if wakes { model.isParked = false }
        if model.isTransferObsolete {
            #expect(action.command == .cancel)
            model.isTransferCancelled = true
            model.isPaused = false
        } else if mayPause, let limit, model.isOpen, model.stage == .running, !model.isPaused, model.parts.count > limit
        {
            #expect(action.command == .pause)
            model.isPaused = true
        } else {
            #expect(action.command == nil)
        }
        #expect(!model.isParked || !model.hasSomething, "a waiter is parked although there is something for it")
    }

    private mutating func take() {
        if model.abandoned == 0, model.head != .taken {
            switch (machine.takeHead(), model.head, model.outcome) {
            case (.value(7), .here, _): model.head = .taken
            case (.wait, .none, .open): model.mustPark = true
            case (.failure(.network), .none, .network), (.failure(.malformed), .none, .malformed): break
            default: #expect(Bool(false), "the head")
            }
            return
        }
        let (answer, command) = machine.takePart()
        var proceeds = false
        switch answer {
        case .value(let part):
            #expect(model.abandoned == 0 && model.parts.first == part)
            model.parts.removeFirst()
            if let limit, model.isPaused, model.stage == .running, model.parts.count <= limit / 2 {
                proceeds = true
                model.isPaused = false
            }
        case .wait:
            #expect(model.isOpen && model.parts.isEmpty)
            model.mustPark = true
        case .end: #expect(model.abandoned == 0 && model.parts.isEmpty && model.outcome == .whole)
        case .failure(.cancelled): #expect(model.abandoned == 1)
        case .failure(.left): #expect(model.abandoned == 2)
        case .failure(.network): #expect(model.abandoned == 0 && model.parts.isEmpty && model.outcome == .network)
        case .failure(.malformed): #expect(model.abandoned == 0 && model.parts.isEmpty && model.outcome == .malformed)
        }
        #expect((command == .proceed) == proceeds)
    }
}
