/// Functions for the tests of the state machine.
extension FlightStateMachine {
    /// Traps if an invariant does not hold.
    ///
    /// - Complexity: O(*n*²) in the number of flights and callers.
    func checkInvariants() {
        var (inTheAir, linked, callers) = (0, 0, 0)
        for slot in 0..<flights.extent where flights.isOccupied(slot) {
            let flight = flights[slot]
            if flight.phase != .cancelled { inTheAir += 1 }
            if flight.phase == .current { linked += 1 }
            precondition(flight.callers.isEmpty || flight.phase != .cancelled, "a cancelled flight has no callers")
            precondition(
                !flight.callers.isEmpty || flight.phase == .cancelled || runsToCompletion || flight.isKept,
                "a flight without callers is cancelled"
            )
            flight.callers.checkLinks(in: waits)
            for wait in flight.callers.slots(in: waits) {
                precondition(waits[wait].flight == slot, "a caller is in the chain of its flight")
                precondition(waits[wait].parking.isWaiting, "a caller in the chain has not been settled")
                callers += 1
            }
        }
        let areCurrent = current.values.allSatisfy { flights[$0.slot].phase == .current }
        precondition(areCurrent, "a key leads to a current flight")
        precondition(current.count == linked, "to each current flight leads one key")
        precondition(count == inTheAir && callerCount == callers, "flights in progress and their callers are counted")
        precondition(flights.count > 0 || !hasDrains, "the end of the last flight ends the wait for it")
        let areMissing = causes.keys.allSatisfy { isThere($0) && flights[$0.slot].phase == .cancelled }
        precondition(areMissing, "a cause is of a cancelled flight that has not ended")
        precondition(causes.keys.allSatisfy { flights[$0.slot].job == nil }, "a flight with a task has its cause")
    }
}
