#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

/// Handles the calls that the program under test makes through its ``Simulation``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine: SimulationHost {
    var nanosecondsHere: Int64 { schedule.now - Self.start }

    var elapsedHere: Duration {
        // Not `.nanoseconds(_:)`, which is generic, and slow in a debug build.
        let (seconds, nanoseconds) = (nanosecondsHere / 1_000_000_000, nanosecondsHere % 1_000_000_000)
        return Duration(secondsComponent: seconds, attosecondsComponent: nanoseconds * 1_000_000_000)
    }

    /// Whether the caller runs in this simulation, that is, on its thread. If not, reading this property makes the run
    /// fail with the reason ``SimulationFailure/Reason/escaped(_:)``.
    var isHere: Bool {
        if SimulationEngine.current === self { return true }
        foreign.call()
        return false
    }

    var elapsed: Duration { isHere ? elapsedHere : .zero }

    func fail(_ failure: SimulationFailure.Reason) {
        if isHere, reason == nil { reason = failure }
    }

    func note(_ text: String, _ location: String) {
        guard isHere else { return }
        schedule.note(text)
        log.append(
            .note(log.text(text, location: location)),
            of: ledger.current,
            on: nil,
            number: schedule.steps,
            at: nanosecondsHere
        )
    }

    func atAnyPoint(_ action: @escaping @Sendable () -> Void) {
        guard isHere else { return }
        actions.append((schedule.moment(), action))
    }

    func draw() -> UInt64? {
        guard isHere else { return nil }
        let number = draws.next()
        // Not zero, which the standard library can reject when it draws from a range.
        return isSimplified() ? 1 : number
    }

    func drawSeed() -> UInt64 { isHere ? draws.next() : 0 }

    func happens() -> Bool { !isHere || !isSimplified() }

    func sometimes(_ condition: Bool, _ message: String, _ location: CheckLocation) {
        if isHere { plan.goals?.note(condition, message, location) }
    }

    func leave() -> Bool { isHere && tc_setOutside(true) }

    func comeBack() { _ = tc_setOutside(false) }
}
#endif
