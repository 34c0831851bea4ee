import TestSupport
import Testing

@testable import TaskControl

/// The intervals of throttled tasks.
extension RegistryDriver {
    static var timer: Int { 3_000 }

    /// The task cancels those before it, and begins an interval if it has claimed one.
    mutating func beginAdmitted(
        _ number: Int,
        _ effects: borrowing RegistryMachine.Effects,
        _ expected: RegistryModel.Consequences
    ) {
        let key = model[number]!.key!
        let older = model.linked(key).prefix { $0.number != number }
        let jobs = expected.cancelled + model.cancel(older.map(\.number))
        let interval = effects.actions?.interval
        #expect(interval?.time == (model[number]!.claims ? .seconds(2) : nil))
        if model[number]!.claims {
            model.intervals[key] = number
            model[number]?.claims = false
        }
        if let id = interval?.id {
            #expect(timers[id] == nil)
            timers[id] = false
        }
        #expect(Set(effects.waking) == expected.woken.union(model.promoteAll()))
        wake(effects.waking)
        cancelled(effects, jobs)
    }

    /// The interval of a key that has begun.
    func interval(_ key: String) -> RegistryMachine.IntervalID? {
        timers.keys.first { model.key(of: $0, ids) == key }
    }

    func hasTimer(_ key: String) -> Bool { interval(key).map { timers[$0] == true } ?? false }

    mutating func attachTimer(_ key: String) {
        let id = interval(key)!
        var effects = RegistryMachine.Effects()
        machine.attachTimer(id, Word(Self.timer), &effects)
        note(effects)
        timers[id] = true
        cancelled(effects, [], timers: model.isClosed && model.liveCount == 0 ? 1 : 0)
    }

    mutating func intervalEnded(_ key: String) {
        let id = interval(key)!
        var effects = RegistryMachine.Effects()
        let released = machine.intervalEnded(id, &effects)
        note(effects)
        model.intervals[key] = nil
        timers[id] = nil
        #expect(Set(effects.waking) == model.promoteAll())
        #expect(released?.string == (model.isInUse(key) ? nil : key))
        wake(effects.waking)
        cancelled(effects, [])
        // A late report finds nothing.
        var late = RegistryMachine.Effects()
        let releasedLate = machine.intervalEnded(id, &late)
        let isEmpty = late.isEmpty
        #expect(isEmpty && releasedLate == nil)
    }
}
