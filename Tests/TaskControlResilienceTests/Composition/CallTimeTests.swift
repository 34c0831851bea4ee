import TestSupport
import Testing

@testable import TaskControlResilience

@Suite(.timeLimit(.minutes(15)))
struct CallTimeTests {
    private enum Event: Hashable, CaseIterable {
        case begin, attempt, end, tick, freeze
    }

    /// The time of a call with a list of the ticks in which attempts were under way.
    private struct Model {
        var now = 0
        var began: Int?
        var hasBegun = false
        var attempts = 0
        var busyTicks = 0
        var isFrozen = false
    }

    /// Every sequence of up to nine events agrees with a model that counts the ticks.
    @Test func everyShortSequenceAgreesWithAModelThatCountsTicks() {
        func play(_ time: CallTime, _ model: Model, _ depth: Int) {
            let now = Duration.seconds(model.now)
            #expect(time.isMeasured == (model.began != nil))
            #expect(time.hasBegun == model.hasBegun)
            #expect(
                time.underWay(at: now) == (model.hasBegun ? model.began : nil).map { _ in .seconds(model.busyTicks) }
            )
            let isFair = model.began.map { model.hasBegun && 2 * model.busyTicks >= model.now - $0 } ?? model.hasBegun
            #expect(time.isFairShare(at: now) == isFair)
            if depth == 0 { return }
            for event in Event.allCases {
                var (time, model) = (time, model)
                let measured = model.began == nil ? .zero : now
                switch event {
                case .begin:
                    // A call is measured from its beginning, or from its first wait.
                    if model.began != nil || model.hasBegun { continue }
                    time.begin(at: now)
                    model.began = model.now
                case .attempt:
                    if model.attempts == 2 { continue }
                    time.attemptBegan(at: measured)
                    model.attempts += 1
                    model.hasBegun = true
                case .end:
                    if model.attempts == 0 { continue }
                    time.attemptEnded(at: measured)
                    model.attempts -= 1
                case .tick:
                    model.now += 1
                    if model.attempts > 0, !model.isFrozen { model.busyTicks += 1 }
                case .freeze:
                    if model.isFrozen || model.attempts == 0 || model.began == nil { continue }
                    time.freeze(at: now)
                    model.isFrozen = true
                }
                play(time, model, depth - 1)
            }
        }
        play(CallTime(), Model(), 9)
    }
}
