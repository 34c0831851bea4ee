import TestSupport
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct CredentialStateMachineTests {
    @Test func aGoodCredentialIsAttached() {
        let machine = CredentialStateMachine<Int>(7)
        #expect(machine.use() == .attach(7, 0))
        #expect(machine.begin(0) == .done)
    }

    @Test func whatIsNotThereIsFetched() {
        var machine = CredentialStateMachine<Int>(nil)
        #expect(machine.use() == .refresh(0))
        #expect(machine.begin(0) == .refresh(rejected: nil))
        #expect(machine.refreshed(0, 1) == nil)
        #expect(machine.use() == .attach(1, 1))
    }

    @Test func whatIsRejectedIsFetchedAnew() {
        var machine = CredentialStateMachine<Int>(7)
        machine.reject(0)
        #expect(machine.use() == .refresh(0))
        #expect(machine.begin(0) == .refresh(rejected: 7))
        #expect(machine.refreshed(0, 8) == 7)
        #expect(machine.use() == .attach(8, 1))
    }

    @Test func whatIsSaidOfAnOldCredentialChangesNothing() {
        var machine = CredentialStateMachine<Int>(7)
        machine.reject(0)
        _ = machine.refreshed(0, 8)
        machine.reject(0)
        #expect(machine.use() == .attach(8, 1))
        #expect(machine.begin(0) == .done)
        #expect(machine.refreshed(0, 9) == 9)
        #expect(machine.use() == .attach(8, 1))
    }

    @Test func whatIsForgottenIsNotBroughtBackByARefreshUnderWay() {
        var machine = CredentialStateMachine<Int>(7)
        machine.reject(0)
        #expect(machine.forget() == 7)
        #expect(machine.refreshed(0, 8) == 8)
        #expect(machine.use() == .refresh(1))
        #expect(machine.begin(1) == .refresh(rejected: nil))
    }

    /// Every sequence of five events, beside a model that keeps the whole history.
    @Test func everyShortHistoryIsAsItsModel() {
        enum Event: CaseIterable { case rejectCurrent, rejectFirst, refreshCurrent, refreshFirst, forget }
        struct Model {
            var history: [Int?]
            var good: Bool
        }
        var histories = 0
        func play(_ machine: CredentialStateMachine<Int>, _ model: Model, depth: Int) {
            let serial = model.history.count - 1
            let expected: CredentialStateMachine<Int>.Use =
                if model.good, let current = model.history[serial] { .attach(current, serial) } else {
                    .refresh(serial)
                }
            #expect(machine.use() == expected)
            for asked in 0...serial {
                let isDue = asked == serial && !model.good
                #expect(machine.begin(asked) == (isDue ? .refresh(rejected: model.history[serial]) : .done))
            }
            guard depth > 0 else { return histories += 1 }
            for event in Event.allCases {
                var (machine, model) = (machine, model)
                switch event {
                case .rejectCurrent:
                    machine.reject(serial)
                    model.good = false
                case .rejectFirst:
                    machine.reject(0)
                    if serial == 0 { model.good = false }
                case .refreshCurrent:
                    #expect(machine.refreshed(serial, 100 + serial) == model.history[serial])
                    model.history.append(100 + serial)
                    model.good = true
                case .refreshFirst:
                    let old = machine.refreshed(0, 50)
                    #expect(old == (serial == 0 ? model.history[0] : 50))
                    if serial == 0 {
                        model.history.append(50)
                        model.good = true
                    }
                case .forget:
                    #expect(machine.forget() == model.history[serial])
                    model.history.append(nil)
                    model.good = false
                }
                play(machine, model, depth: depth - 1)
            }
        }
        play(CredentialStateMachine(nil), Model(history: [nil], good: false), depth: 5)
        play(CredentialStateMachine(7), Model(history: [7], good: true), depth: 5)
        #expect(histories == 2 * 3_125)
    }
}
