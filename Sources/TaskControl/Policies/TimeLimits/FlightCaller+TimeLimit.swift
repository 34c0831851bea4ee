extension _FlightCaller {
    /// Waits for the value of the flight, but not beyond the time limit of its work. A caller that stops waiting at the limit
    /// cancels the flight if it is the last one, as a caller that is cancelled does.
    ///
    /// - Returns: The value, also to a caller that has been cancelled meanwhile.
    /// - Throws: ``TimeoutError`` at the limit; the error of the work; `CancellationError` if the caller was cancelled and there is
    ///   no value; the error of the clock, if the clock cannot sleep.
    @usableFromInline
    package nonisolated(nonsending) func value(within limit: StopwatchLimit) async throws -> Value {
        let (flight, place) = (flight, place)
        let events = CallEvents.begin(.withTimeout, .started, .waiting, delay: limit.duration)
        events?.emit(.running, .entered(.running))
        let (isReached, failure) = await withTaskGroup(of: (any Error)?.self) { group in
            group.addTask {
                do {
                    try await limit.stopwatch.sleep(until: limit.duration)
                    flight.table.leave(flight, at: place, isLimit: true)
                    return nil
                } catch {
                    // If this task is cancelled, the wait has ended. Otherwise the clock can't sleep.
                    return !Task.isCancelled && flight.table.leave(flight, at: place) ? error : nil
                }
            }
            let isReached = await _FlightTable.wait(for: flight, at: place)
            group.cancelAll()
            return (isReached, await group.next() ?? nil)
        }
        let result = isReached ? flight.result : nil
        if case .success(let value)? = result {
            events?.end(.completed, .completed)
            return value
        }
        if !isReached { await flight.table.completeCancellation(of: flight) }
        // A cancelled caller receives CancellationError, whatever was thrown.
        if _isTaskCancelled {
            events?.end(.failed, .failed, error: CancellationError())
            throw CancellationError()
        }
        if case .failure(let error)? = result ?? failure.map({ .failure($0) }) {
            events?.end(.failed, .failed, error: error)
            throw error
        }
        events?.end(.timedOut, .timedOut)
        throw TimeoutError(duration: limit.duration)
    }
}
