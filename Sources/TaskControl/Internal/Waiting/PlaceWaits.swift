/// The one ``WaitGraph`` of the process (or of a simulated process: ``ProcessValues``), so that turns and flights of different objects that wait for each other are
/// detected.
///
/// Its lock may be taken while the lock of a flight table is held. Inside it, only the locks of queues are taken.
@usableFromInline
package enum _PlaceWaits {
    typealias Goal = WaitGraph<Place>.Goal

    /// A wait, which must be removed when the code no longer waits.
    @usableFromInline
    package struct Wait: Sendable {
        let number: UInt64

        /// The wait of code that is in no place, and so is not in the graph.
        @usableFromInline static let unrecorded = Wait(number: 0)

        /// Ends the wait. Has no effect if it has ended before.
        @inline(__always)
        package func end() {
            if number != 0 { _PlaceWaits.end(self) }
        }
    }

    private static let graph = Locked(WaitGraph<Place>())
    /// The number of waits in the graph, so that flights for which no code in a place waits end without the lock. Outside
    /// simulations.
    private static let count = AtomicWord(0)

    /// Records that code waits.
    ///
    /// - Parameters:
    ///   - goal: The aim of the wait.
    ///   - places: The places that the code is inside of. If there are none, the wait is not recorded.
    /// - Returns: The wait; `nil` if the code would wait for itself. Nothing is recorded then.
    static func begin(for goal: @autoclosure () -> Goal, inside places: [Place]) -> Wait? {
        if places.isEmpty { return .unrecorded }
        let goal = goal()
        return change { $0.wait(for: goal, inside: places, isHeld: \.isHeld) }.map(Wait.init)
    }

    @inline(never)
    private static func end(_ wait: Wait) { change { $0.remove(wait.number) } }

    /// Records that a flight has ended, or that its callers no longer wait.
    @inline(__always)
    static func areOver(for flight: @autoclosure () -> Place) {
        if count.value != 0 || ProcessValues.ofSimulation != nil { change { $0.isOver(flight()) } }
    }

    @inline(never)
    private static func change<Result>(_ event: (inout WaitGraph<Place>) -> Result) -> Result {
        if let process = ProcessValues.ofSimulation {
            return process.value(of: ObjectIdentifier(Self.self)) { Locked(WaitGraph<Place>()) }.withLock(event)
        }
        return graph.withLock { graph in
            defer { count.store(Int64(graph.count)) }
            return event(&graph)
        }
    }
}
