import TaskControlTesting

@testable import TaskControl

/// A ``SingleFlight`` and the sequential model of it: a caller that asks while a flight is current joins it; the last caller to leave cancels it.
///
/// A simulation has one thread, and from the call of `run` to its wait nothing suspends, so the two never run apart. The
/// model can't see the moment in which a flight that has done its work is removed: the model reads it from the engine.
final class FlightWorld: Sendable {
    enum Work: CaseIterable {
        case nothing, yields, sleeps, fails, ignoresCancellation
    }

    struct Failed: Error, Equatable {
        let flight: Int
    }

    private struct Flight {
        let key: Int
        var callers: Set<Int> = []
        var isCurrent = true
        var isCancelled = false
        /// Known when its work has begun.
        var id: _FlightTable.ID?
        var hasEnded = false
    }

    private struct Caller {
        var flight: Int?
        var isCancelled = false
        var hasLeft = false
    }

    private struct State {
        var flights: [Flight] = []
        var callers: [Caller] = []
    }

    private let sim: Simulation
    private let runsToCompletion: Bool
    private let flights: SingleFlight<Int, Int>
    private let state = Locked(State())

    init(_ sim: Simulation, runsToCompletion: Bool) {
        (self.sim, self.runsToCompletion) = (sim, runsToCompletion)
        flights = SingleFlight(whenAbandoned: runsToCompletion ? .finish : .cancel)
    }

    // MARK: Operations

    /// Asks in a task of its own, which the seed cancels at any point if the program says so.
    ///
    /// - Returns: Returns when the caller has its answer.
    func ask(_ key: Int, _ work: Work, isCancelled: Bool) -> @Sendable () async -> Void {
        let number = state.withLock { state in
            state.callers.append(Caller())
            return state.callers.count - 1
        }
        let task = Task {
            let flight = call(number, key)
            let result: Result<Int, any Error>
            do {
                result = .success(try await flights.value(for: key) { try await self.perform(flight, work) })
            } catch {
                result = .failure(error)
            }
            check(number, result)
        }
        if isCancelled {
            sim.atAnyPoint {
                self.cancelled(number)
                task.cancel()
                self.checkCount()
            }
        }
        return { await task.value }
    }

    func forget(_ key: Int) {
        update { state in
            if let flight = current(key, &state) { state.flights[flight].isCurrent = false }
        }
        flights.forget(key)
        checkCount()
    }

    func cancelAll() {
        update { state in
            for index in state.flights.indices where self.isInTheAir(state.flights[index]) {
                state.flights[index].isCancelled = true
                state.flights[index].isCurrent = false
                for caller in state.flights[index].callers { state.callers[caller].hasLeft = true }
                state.flights[index].callers = []
            }
        }
        flights.cancelAll()
        checkCount()
    }

    func expectAllIsOver() {
        sim.expect(flights.count == 0 && flights._flights.liveCount == 0, "the books are empty")
    }

    // MARK: The model

    private func update(_ change: (inout State) -> Void) { state.withLock(change) }

    /// Whether it is in the books.
    private func isInTheAir(_ flight: Flight) -> Bool {
        !flight.hasEnded || flight.id.map { flights._flights.isHeld($0) } ?? true
    }

    private func current(_ key: Int, _ state: inout State) -> Int? {
        state.flights.lastIndex { $0.key == key && $0.isCurrent && isInTheAir($0) }
    }

    /// - Returns: The flight that is begun if none is there.
    private func call(_ number: Int, _ key: Int) -> Int {
        var new = 0
        update { state in
            new = state.flights.count
            if state.callers[number].isCancelled { return }
            let flight = current(key, &state)
            if flight == nil { state.flights.append(Flight(key: key)) }
            state.flights[flight ?? new].callers.insert(number)
            state.callers[number].flight = flight ?? new
        }
        return new
    }

    private func cancelled(_ number: Int) {
        update { state in
            state.callers[number].isCancelled = true
            // In a tie the result counts.
            guard let flight = state.callers[number].flight, isInTheAir(state.flights[flight]),
                state.flights[flight].callers.remove(number) != nil
            else { return }
            state.callers[number].hasLeft = true
            if state.flights[flight].callers.isEmpty, !runsToCompletion {
                state.flights[flight].isCancelled = true
                state.flights[flight].isCurrent = false
            }
        }
    }

    private func perform(_ flight: Int, _ work: Work) async throws -> Int {
        update { state in
            sim.expect(flight < state.flights.count, "it is begun only by who has to")
            sim.expect(state.flights[flight].id == nil, "\(flight) runs once")
            sim.expect(!state.flights[flight].isCancelled, "\(flight) was cancelled before it began, and does not")
            state.flights[flight].id = flights._flights.innermostID
        }
        switch work {
        case .nothing, .fails: break
        case .yields: for _ in 0..<2 { await Task.yield() }
        case .sleeps: try? await Task.sleep(for: .milliseconds(2))
        case .ignoresCancellation: for _ in 0..<6 { await Task.yield() }
        }
        update { state in
            // The task is cancelled soon after its flight: its last caller leaves in a handler.
            sim.expect(!Task.isCancelled || state.flights[flight].isCancelled, "\(flight) is wanted, and not cancelled")
            state.flights[flight].hasEnded = true
        }
        if work == .fails { throw Failed(flight: flight) }
        if work != .ignoresCancellation { try Task.checkCancellation() }
        return flight
    }

    private func check(_ number: Int, _ result: Result<Int, any Error>) {
        let caller = state.withLock { $0.callers[number] }
        switch result {
        case .success(let flight):
            sim.expect(flight == caller.flight && !caller.hasLeft, "\(number) has what its flight brought")
        case .failure(let error as Failed):
            sim.expect(error.flight == caller.flight && !caller.hasLeft && !caller.isCancelled)
        case .failure(let error):
            // A caller that is cancelled itself has no other error.
            sim.expect(
                caller.isCancelled ? error is CancellationError : error is CancellationCause && caller.hasLeft,
                "\(number) fails with its cancellation or its flight's error, not with \(error)"
            )
        }
        checkCount()
    }

    private func checkCount() {
        let count = flights.count
        let expected = state.withLock { state in state.flights.filter { !$0.isCancelled && isInTheAir($0) }.count }
        sim.expect(count == expected, "\(count) are in the air, not \(expected)")
    }
}
