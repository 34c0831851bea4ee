import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct ClientThrottleStateMachineTests {
    /// Every sequence of events with few calls agrees with the model; sequences that lead to the same state continue as one.
    @Test func everyShortSequenceAgreesWithTheModel() {
        let steps = ClientThrottleDriver().playEverySequence(upTo: fullSize(9, inDebug: 7)) {
            $0.possibleEvents(calls: 3)
        }
        #expect(steps > 1_000)
    }

    @Test(arguments: Schedules.seeds(40, inDebug: 8))
    func longRandomSequencesAgreeWithTheModel(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var driver = ClientThrottleDriver()
        for _ in 0..<1_000 { driver.play(driver.possibleEvents(calls: 20).randomElement(using: &random)!) }
    }

    /// Of a service that accepts a quarter of what is asked for, about twice as many calls are made as it accepts.
    @Test func theServiceReceivesTwiceAsManyCallsAsItAccepts() {
        var random = SeededGenerator(seed: 1)
        var machine = ClientThrottleStateMachine(.init(multiplier: 2, window: .seconds(120)))
        var (made, accepted) = (0, 0)
        for millisecond in 0..<600_000 where millisecond % 10 == 0 {
            let now = Duration.milliseconds(millisecond)
            let draw = Double.random(in: 0..<1, using: &random)
            guard case .admitted(let permit) = machine.admit(at: now, draw: draw) else { continue }
            // 25 of the 100 calls in a second are accepted.
            let isAccepted = accepted * 40 <= millisecond
            machine.report(isAccepted ? .healthy : .failed, of: permit, at: now)
            guard millisecond > 240_000 else {
                accepted += isAccepted ? 1 : 0
                continue
            }
            made += 1
            accepted += isAccepted ? 1 : 0
        }
        let perSecond = Double(made) / 360
        #expect((45...55).contains(perSecond), "\(perSecond) calls per second")
    }

    /// A call that a breaker inside the throttle refuses is no probe.
    @Test func aCallThatIsNotMadeLeavesTheProbeToTheNext() {
        var machine = ClientThrottleStateMachine(.init(multiplier: 2, window: .seconds(120)))
        for second in 0..<10 {
            guard let permit = machine.admitWhileHealthy(at: .seconds(second)) else { continue }
            machine.report(.failed, of: permit, at: .seconds(second))
        }
        for _ in 0..<3 {
            guard case .admitted(let permit) = machine.admit(at: .seconds(20), draw: 0) else {
                Issue.record("the calls before were not made")
                return
            }
            machine.report(.unknown, of: permit, at: .seconds(20))
        }
        guard case .admitted(let probe) = machine.admit(at: .seconds(20), draw: 0) else {
            Issue.record("the calls before were not made")
            return
        }
        machine.report(.failed, of: probe, at: .seconds(20))
        guard case .refused(.seconds(1)) = machine.admit(at: .seconds(20), draw: 0) else {
            Issue.record("a probe was made")
            return
        }
    }

    /// The calls of a client that begins are not refused before one of them can have been answered.
    @Test func theFirstCallsAreAdmitted() {
        var machine = ClientThrottleStateMachine(.init(multiplier: 2, window: .seconds(120)))
        for number in 0..<1_000 { #expect(machine.admitWhileHealthy(at: .milliseconds(number)) != nil) }
        #expect(machine.probability(at: .seconds(2)) == 0)
        #expect(machine.probability(at: .seconds(4)) > 0.99, "none of them has ended")
    }
}

private enum ClientThrottleEvent: Hashable {
    case admit(draw: Double), report(Int, CallOutcome), tick
}

/// A list of all requests, which is searched for each answer: what the machine must do with sums.
private struct ClientThrottleModel: Hashable {
    struct Request: Hashable {
        let bucket: Int
        var isRunning: Bool
        var isAccepted = false
    }

    /// In ticks: one bucket is one tick.
    static let (buckets, young, silence, probeInterval) = (6, 2, 3, 2)

    var now = 0
    var requests: [Request] = []
    /// The numbers of the running calls among all requests that there have been; `nil`: its history has been dropped.
    var lastAdmission: Int?
    var lastAccept = 0

    var current: [Request] { requests.filter { $0.bucket > now - Self.buckets } }

    var probability: Double {
        let counted = current.count { !$0.isRunning || $0.bucket <= now - Self.young }
        let accepts = current.count(where: \.isAccepted)
        return max(0, Double(counted - 2 * accepts) / Double(counted + 1))
    }
}

private struct ClientThrottleDriver: MachineDriver {
    private struct Call: Hashable {
        /// Where the model keeps the request; `nil`: the history has been dropped.
        var index: Int?
        let begun: Int
        /// The admission before it.
        let earlier: Int?
    }

    private var machine = ClientThrottleStateMachine(
        .init(
            multiplier: 2,
            window: .seconds(6),
            buckets: ClientThrottleModel.buckets,
            probeInterval: .seconds(ClientThrottleModel.probeInterval),
            silence: 0.5
        )
    )
    private var model = ClientThrottleModel()
    private var calls: [Call] = []
    private var permits: [ClientThrottleStateMachine.Permit] = []

    var signature: Int {
        var hasher = Hasher()
        // Time counted from now.
        let now = model.now
        hasher.combine(
            model.current.map {
                ClientThrottleModel.Request(bucket: $0.bucket - now, isRunning: $0.isRunning, isAccepted: $0.isAccepted)
            }
        )
        hasher.combine(model.lastAdmission.map { min(now - $0, ClientThrottleModel.probeInterval) })
        hasher.combine(min(now - model.lastAccept, ClientThrottleModel.silence))
        let dropped = model.requests.count - model.current.count
        hasher.combine(calls.map { call in call.index.map { max(-1, $0 - dropped) } })
        hasher.combine(calls.map { min(now - $0.begun, ClientThrottleModel.buckets) })
        hasher.combine(calls.map { $0.earlier.map { min(now - $0, ClientThrottleModel.probeInterval) } })
        return hasher.finalize()
    }

    func possibleEvents(calls limit: Int) -> [ClientThrottleEvent] {
        let reports: [ClientThrottleEvent] = calls.indices.flatMap { index in
            CallOutcome.allCases.map { .report(index, $0) }
        }
        return [.tick] + (calls.count < limit ? [.admit(draw: 0), .admit(draw: 0.5), .admit(draw: 0.99)] : []) + reports
    }

    mutating func play(_ event: ClientThrottleEvent) {
        let now = Duration.seconds(model.now)
        switch event {
        case .tick: model.now += 1
        case .admit(let draw): admit(draw, now)
        case .report(let number, let outcome):
            let call = calls.remove(at: number)
            machine.report(outcome, of: permits.remove(at: number), at: now)
            report(outcome, of: call)
        }
        let probability = machine.probability(at: .seconds(model.now))
        #expect(abs(probability - model.probability) < 1e-12)
        machine.checkInvariants()
    }

    private mutating func admit(_ draw: Double, _ now: Duration) {
        let probability = model.probability
        if probability == 0, draw == 0 {
            guard let permit = machine.admitWhileHealthy(at: now) else {
                Issue.record("no call is refused")
                return
            }
            return begin(permit)
        }
        let isEarly = model.lastAdmission.map { model.now - $0 < ClientThrottleModel.probeInterval } ?? false
        switch machine.admit(at: now, draw: draw) {
        case .admitted(let permit):
            #expect(draw >= probability || !isEarly)
            begin(permit)
        case .refused(let retryAfter):
            #expect(draw < probability && isEarly)
            #expect(retryAfter == .seconds(model.lastAdmission! + ClientThrottleModel.probeInterval - model.now))
            model.requests.append(.init(bucket: model.now, isRunning: false))
        }
    }

    private mutating func begin(_ permit: ClientThrottleStateMachine.Permit) {
        model.requests.append(.init(bucket: model.now, isRunning: true))
        calls.append(Call(index: model.requests.count - 1, begun: model.now, earlier: model.lastAdmission))
        model.lastAdmission = model.now
        permits.append(permit)
    }

    private mutating func report(_ outcome: CallOutcome, of call: Call) {
        let isYoung = call.index != nil && call.begun > model.now - ClientThrottleModel.young
        if outcome == .unknown, isYoung, model.lastAdmission == call.begun { model.lastAdmission = call.earlier }
        let isSilent = model.now - model.lastAccept >= ClientThrottleModel.silence && model.probability > 0
        if outcome == .healthy { model.lastAccept = model.now }
        if outcome == .healthy, isSilent {
            model.requests = [.init(bucket: model.now, isRunning: false, isAccepted: true)]
            for index in calls.indices { calls[index].index = nil }
            return
        }
        guard let index = call.index else { return }
        model.requests[index].isRunning = false
        switch outcome {
        case .healthy: model.requests[index].isAccepted = true
        case .failed: break
        case .unknown:
            guard isYoung else { return }
            model.requests.remove(at: index)
            for other in calls.indices {
                if let place = calls[other].index, place > index { calls[other].index = place - 1 }
            }
        }
    }
}
