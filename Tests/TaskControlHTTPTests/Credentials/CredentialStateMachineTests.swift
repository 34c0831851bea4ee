import Foundation
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

    /// Seconds since some moment.
    private func time(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

    private func validity(_ end: Double, from now: Double = 0) -> CredentialStateMachine<Int>.Validity {
        .init(until: time(end), from: time(now), margin: 60)
    }

    @Test func anExpiringCredentialIsRenewed() {
        var machine = CredentialStateMachine<Int>(7, validity(600))
        #expect(machine.use(at: time(539)) == .attach(7, 0))
        #expect(machine.begin(0, at: time(539)) == .done)
        #expect(machine.use(at: time(540)) == .renew(7, 0, isExpired: false))
        #expect(machine.use(at: time(600)) == .renew(7, 0, isExpired: true))
        #expect(machine.begin(0, at: time(540)) == .refresh(rejected: 7))
        #expect(machine.refreshed(0, 8, validity(1_200, from: 540)) == 7)
        #expect(machine.use(at: time(600)) == .attach(8, 1))
        #expect(machine.begin(0, at: time(2_000)) == .done, "a late refresh of the old one")
        #expect(machine.use(at: time(1_140)) == .renew(8, 1, isExpired: false))
        // A rejection is stronger than an expiration.
        machine.reject(1)
        #expect(machine.use(at: time(1_140)) == .refresh(1))
        #expect(machine.refreshed(1, 9) == 8)
        #expect(machine.use(at: .distantFuture) == .attach(9, 2), "without an expiration")
        _ = machine.forget()
        #expect(machine.use(at: time(0)) == .refresh(3))
    }

    @Test func aShortLivedCredentialIsUsedForHalfOfItsLife() {
        let machine = CredentialStateMachine<Int>(7, validity(30))
        #expect(machine.use(at: time(14)) == .attach(7, 0))
        #expect(machine.use(at: time(15)) == .renew(7, 0, isExpired: false))
        // A credential that has expired already, and a negative margin.
        #expect(CredentialStateMachine<Int>(7, validity(-5)).use(at: time(0)) == .renew(7, 0, isExpired: true))
        let late = CredentialStateMachine<Int>.Validity(until: time(30), from: time(0), margin: -60)
        #expect(late.renewal == late.end)
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
