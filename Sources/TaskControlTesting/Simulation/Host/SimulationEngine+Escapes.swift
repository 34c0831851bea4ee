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
    /// ``Simulation/Failure/Reason/escaped(_:)``.
    ///
    /// - Returns: Whether the running task belongs to the simulation.
    @discardableResult
    func checkCurrentTask() -> Bool {
        if ledger.current != nil { return true }
        if depth > 0, tc_currentTask() != nil, reason == nil {
            let actor = actorOfStep.map { "\(log.type(ofActor: $0)), an" } ?? "an"
            reason = .escaped(
                "a task that is not the simulation's ran on its thread, on \(actor) actor that both use: \(Self.sharing)"
            )
        }
        return false
    }

    /// Fails the run with the reason ``Simulation/Failure/Reason/escaped(_:)``, because the program under test called a
    /// function that starts work outside the simulation, or waits for such work.
    ///
    /// - Parameters:
    ///   - call: The name of the function.
    ///   - why: A relative clause for the message, such as "which wakes another thread".
    ///   - caller: The address to which the function returns.
    func touched(_ call: String, _ why: String, _ caller: UnsafeRawPointer) {
        guard reason == nil else { return }
        reason = .escaped("\(labelOfCurrent) called \(call), \(why)\(text(ofCaller: caller))")
    }

    /// Fails the run with the reason ``Simulation/Failure/Reason/blocked(_:)``, because the program under test waits for
    /// a lock that a task of the simulation holds.
    ///
    /// - Parameters:
    ///   - call: The name of the function that waits.
    ///   - holder: The number of the task that has acquired the lock; negative if no task was running.
    ///   - caller: The address to which the function returns.
    func waits(in call: String, forLockOf holder: Int64, _ caller: UnsafeRawPointer) {
        guard reason == nil else { return }
        let (waiting, holding) = (ledger.current, holder < 0 ? nil : Int(holder))
        let owner =
            holding == nil
            ? "code that is no task's has acquired"
            : waiting == holding ? "it holds itself" : "\(ledger.label(holding)) holds over an await"
        reason = .blocked("\(labelOfCurrent) waits in \(call) for a lock that \(owner)\(text(ofCaller: caller))")
    }

    /// Runs a step of another task while the program waits in a function: that task may end the wait. The run fails with the
    /// reason ``Simulation/Failure/Reason/blocked(_:)``.
    func runsOther(during call: String, _ caller: UnsafeRawPointer) -> Bool {
        if reason == nil {
            mayWaitInVain = true
            reason = .blocked(
                "\(labelOfCurrent) waits in \(call) for another task of the simulation\(text(ofCaller: caller))"
            )
        }
        return runOther()
    }

    /// No task of the simulation has ended the wait: a thread outside may do so.
    func waitsInVain() {
        if mayWaitInVain { reason = nil }
        mayWaitInVain = false
    }

    private var labelOfCurrent: String { ledger.current.map { ledger.label($0) } ?? "code that is no task's" }

    /// Returns a text that names the function that has called a system function, such as ", called by Feed.load()".
    private func text(ofCaller caller: UnsafeRawPointer) -> String {
        guard plan.namesCallers, let bytes = tc_copyCaller(caller) else { return "" }
        defer { System.deallocate(bytes) }
        return ", called by \(Self.readable(String(cString: bytes)))"
    }

    /// Returns the name of a function without the parts that tell nothing to a reader.
    private static func readable(_ name: String) -> String {
        // The name of the part of an async function after a suspension contains that of the function.
        let end = name.firstRange(of: "partial function for ")?.upperBound
        var rest = end.map { name[$0...] } ?? name[...]
        var text = ""
        // "(load in _0123456789ABCDEF0123456789ABCDEF)" is the private function load.
        while let range = rest.firstRange(of: " in _"), let open = rest[..<range.lowerBound].lastIndex(of: "(") {
            let close = rest[range.upperBound...].drop { $0.isHexDigit }
            guard close.first == ")" else { break }
            text += rest[..<open] + rest[rest.index(after: open)..<range.lowerBound]
            rest = close.dropFirst()
        }
        return text + rest
    }

    // MARK: Actors that are shared

    private static let sharing = "put the tests that use it into one suite with the trait .serialized"

    /// Ends the run, which is then repeated alone, because a task has arrived at an actor that another simulation uses.
    func collided(_ task: Int?, _ actor: Int) {
        hasCollided = true
        if reason == nil {
            reason = .escaped(
                "\(ledger.label(task)) waits for \(log.type(ofActor: actor)), which another simulation uses at the same time: "
                    + Self.sharing
            )
        }
    }

    /// Fails the run with the reason ``Simulation/Failure/Reason/escaped(_:)``, because a task has arrived at an actor that
    /// runs on another thread.
    func isElsewhere(_ task: Int?, _ actor: Int) {
        guard reason == nil else { return }
        reason = .escaped(
            "\(ledger.label(task)) waits for \(log.type(ofActor: actor)), an actor that another test or thread uses at the same time: "
                + Self.sharing
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
        if ledger.current != nil, call != nil || !isPolling {
            let duration = Duration.nanoseconds(nanoseconds).inMilliseconds
            let how = call.map { "for \(duration) in \($0)" } ?? "in a loop that looks at the clock: time passes"
            record(.blocked(how), how)
        }
        isPolling = call == nil
        schedule.advance(by: nanoseconds)
        if let call { runOthersIfPolling(in: call) }
        return schedule.now
    }

    /// After that many calls, a step that blocks its thread again and again waits for another task.
    private static let mostBlocks = 10_000

    /// Runs a step of another task if this step polls: only another task can end the loop. The run fails with the reason
    /// ``Simulation/Failure/Reason/blocked(_:)``.
    private func runOthersIfPolling(in call: String) {
        blockCount += 1
        guard blockCount > Self.mostBlocks else { return }
        if reason == nil {
            reason = .blocked("\(labelOfCurrent) polls: \(Self.mostBlocks) calls of \(call) in one step")
        }
        _ = runOther()
    }
}
#endif
