#if os(Linux) || canImport(Darwin)
import CTaskControlTesting
import TaskControl

/// Handles calls with which the program under test leaves the simulation, or blocks the simulation's thread.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulationEngine {
    func escaped(_ task: UnsafeMutableRawPointer, _ how: String, _ foreign: UnsafeMutableRawPointer) {
        let executor: any Any.Type = type(of: Unmanaged<AnyObject>.fromOpaque(foreign).takeUnretainedValue())
        let number = ledger.number(of: task)
        ledger.went(number, to: TypeID(executor))
        if reason == nil { reason = .escaped("\(ledger.label(number)) \(how), \(executor)") }
    }

    /// Checks that the running task belongs to the simulation. An actor that is shared with code outside the simulation
    /// can run tasks of that code on the simulation's thread; the run then fails with the reason
    /// ``SimulationFailure/Reason/escaped(_:)``.
    ///
    /// - Returns: Whether the running task belongs to the simulation.
    @discardableResult
    func checkCurrentTask() -> Bool {
        if ledger.current != nil { return true }
        if depth > 0, tc_currentTask() != nil, reason == nil {
            reason = .escaped("a task that is not the simulation's ran on its thread, on an actor that both use")
        }
        return false
    }

    /// Fails the run with the reason ``SimulationFailure/Reason/escaped(_:)``, because the program under test called a
    /// function that starts work outside the simulation, or waits for such work.
    ///
    /// - Parameters:
    ///   - call: The name of the function.
    ///   - why: A relative clause for the message, such as "which wakes another thread".
    func touched(_ call: String, _ why: String) {
        guard reason == nil else { return }
        reason = .escaped(
            "\(ledger.current.map { ledger.label($0) } ?? "code that is no task's") called \(call), \(why)"
        )
    }

    /// Advances virtual time because the program under test has called a function that blocks its thread.
    ///
    /// - Parameters:
    ///   - nanoseconds: The duration by which virtual time advances.
    ///   - call: The name of the blocking function; `nil` if a loop reads the clock so often that virtual time must
    ///     pass. In this case, this function is called for each further read.
    /// - Returns: The new virtual time, in nanoseconds.
    func blocked(for nanoseconds: Int64, in call: String?) -> Int64 {
        if let task = ledger.current, call != nil || !isPolling {
            let duration = Duration.nanoseconds(nanoseconds).inMilliseconds
            let how = call.map { "for \(duration) in \($0)" } ?? "in a loop that looks at the clock: time passes"
            let event = ScheduleLog.Event.blocked(log.text(how))
            log.append(event, of: task, on: nil, number: schedule.steps, at: nanosecondsHere)
        }
        isPolling = call == nil
        schedule.advance(by: nanoseconds)
        return schedule.now
    }
}
#endif
