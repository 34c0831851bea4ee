import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(5)))
struct ExchangeStateMachineTests {
    /// All sequences of fourteen events, with a wire that can be paused and with one that can't.
    @Test(arguments: [nil, 1])
    func agreesWithItsModel(_ limit: Int?) {
        let steps = ExchangeDriver(limit: limit).playEverySequence(upTo: 14) { $0.possible }
        #expect(steps > 5_000)
    }

    @Test func aWaiterIsHandedBackIfSomethingHasArrived() {
        var machine = ExchangeStateMachine<Int, Int, String>(limit: nil)
        let starts = machine.start()
        #expect(starts)
        _ = machine.didStart()
        guard case .wait = machine.takeHead() else { return #expect(Bool(false), "there is no head yet") }
        let woken = machine.receive(head: 1).wake
        let handedBack = machine.park("w")
        #expect(woken == nil && handedBack == "w")
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func partsAgreeWithAnArray(seed: UInt64) {
        var (random, parts, model) = (SeededGenerator(seed: seed), Parts<Int>(), [Int]())
        for step in 0..<2_000 {
            if Int.random(in: 0..<(step / 500).isMultiple(of: 2).choices, using: &random) == 0 {
                let (first, expected) = (parts.removeFirst(), model.first)
                model = Array(model.dropFirst())
                #expect(first == expected)
            } else {
                parts.append(step, bytes: step)
                model.append(step)
            }
            #expect(parts.isEmpty == model.isEmpty && parts.bytes == model.reduce(0, +))
        }
    }
}

extension Bool {
    /// Grow slowly, or shrink slowly.
    fileprivate var choices: Int { self ? 3 : 2 }
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
        var isWireCancelled = false
        var isPaused = false
        /// 1: cancelled, 2: left.
        var gone = 0
        var isParked = false
        var mustPark = false

        var isOpen: Bool { outcome == .open && gone == 0 }
        var hasNews: Bool { !isOpen || head == .here || !parts.isEmpty }
        /// What is wrong with a wire that nobody listens to anymore: it must be cancelled.
        var isWireObsolete: Bool { !isOpen && stage == .running && !isWireCancelled }
    }

    private var machine: ExchangeStateMachine<Int, Int, Int>
    private var model = Model()
    private let limit: Int?

    init(limit: Int?) {
        machine = ExchangeStateMachine(limit: limit)
        self.limit = limit
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
        if !model.isParked { events.append(model.mustPark ? .park : .take) }
        return events.filter { $0 != .part || model.nextPart < 4 }
    }

    mutating func play(_ event: Event) {
        switch event {
        case .start:
            let starts = machine.start()
            #expect(starts == (model.gone == 0))
            if model.gone == 0 { model.stage = .starting }
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
            if model.gone == 0 {
                model.gone = event == .cancel ? 1 : 2
                model.parts = []
                if model.head == .here { model.head = .none }
            }
            expect(action)
        case .park:
            let handedBack = machine.park(1)
            #expect((handedBack != nil) == model.hasNews)
            model.mustPark = false
            model.isParked = handedBack == nil
        case .take: take()
        }
        #expect(machine.isOpen == model.isOpen)
        // What a reader would get now: a state that differs from the model only there is not searched further.
        var reader = self
        reader.take()
    }

    /// What is to be done after an event, judged by what the model has become.
    private mutating func expect(_ action: ExchangeStateMachine<Int, Int, Int>.Action, mayPause: Bool = false) {
        let wakes = model.isParked && model.hasNews
        #expect((action.wake != nil) == wakes)
        if wakes { model.isParked = false }
        if model.isWireObsolete {
            #expect(action.wire == .cancel)
            model.isWireCancelled = true
            model.isPaused = false
        } else if mayPause, let limit, model.isOpen, model.stage == .running, !model.isPaused, model.parts.count > limit
        {
            #expect(action.wire == .pause)
            model.isPaused = true
        } else {
            #expect(action.wire == nil)
        }
        #expect(!model.isParked || !model.hasNews, "nobody sleeps beside news")
    }

    private mutating func take() {
        if model.gone == 0, model.head != .taken {
            switch (machine.takeHead(), model.head, model.outcome) {
            case (.value(7), .here, _): model.head = .taken
            case (.wait, .none, .open): model.mustPark = true
            case (.failure(.network), .none, .network), (.failure(.malformed), .none, .malformed): break
            default: #expect(Bool(false), "the head")
            }
            return
        }
        let (asked, wire) = machine.takePart()
        var proceeds = false
        switch asked {
        case .value(let part):
            #expect(model.gone == 0 && model.parts.first == part)
            model.parts.removeFirst()
            if let limit, model.isPaused, model.stage == .running, model.parts.count <= limit / 2 {
                proceeds = true
                model.isPaused = false
            }
        case .wait:
            #expect(model.isOpen && model.parts.isEmpty)
            model.mustPark = true
        case .end: #expect(model.gone == 0 && model.parts.isEmpty && model.outcome == .whole)
        case .failure(.cancelled): #expect(model.gone == 1)
        case .failure(.left): #expect(model.gone == 2)
        case .failure(.network): #expect(model.gone == 0 && model.parts.isEmpty && model.outcome == .network)
        case .failure(.malformed): #expect(model.gone == 0 && model.parts.isEmpty && model.outcome == .malformed)
        }
        #expect((wire == .proceed) == proceeds)
    }
}
