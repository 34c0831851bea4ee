extension TaskRegistry {
    func cancel(key: Key) {
        change(cause: { _ in .known(.requested(reason: nil)) }) { $0.machine.cancel(key: key, &$1) }
    }

    func cancel(_ id: ID, because cause: CancellationCause) {
        change(cause: { _ in .known(cause) }) { $0.machine.cancel(id, &$1) }
    }

    func cancelAll(because cause: CancellationCause) {
        cancelAll(isClosing: false, emitsClosed: false, cause)
    }

    /// Records the cause of cancellation of the current task, if the task was cancelled before its handle was attached
    /// (stored in the registry). Called by the task itself.
    ///
    /// - Parameter id: The ID of the current task.
    func recordCauseOfCurrentTask(_ id: ID) {
        state.withLock { books in
            guard let cause = books.earlyCauses[id] else { return }
            CancellationCauses.record(cause, for: .running)
        }
    }

    /// Returns the cause of cancellation of the current task, whose work is skipped.
    ///
    /// - Parameter id: The ID of the current task.
    func cause(ofSkipped id: ID) -> CancellationCause {
        recordCauseOfCurrentTask(id)
        return CancellationCauses.cause(of: .running)?.cause ?? .unknown
    }

    /// Refuses tasks that are added later, and calls the closures of `onRefusal(_:)`. The present tasks continue.
    func refuse() {
        let (moment, handlers) = state.withLock { books in
            books.machine.close()
            return (Diagnostics.moment, books.refusalHandlers)
        }
        for handler in handlers.sorted(by: { $0.key < $1.key }) { handler.value() }
        Diagnostics.emit(at: moment, source.event(.closed))
    }

    /// Refuses tasks that are added later, and cancels the present ones.
    func close() {
        cancelAll(isClosing: true, emitsClosed: true, .shutdown(name: name))
    }

    /// Closes the registry and cancels its tasks, because the owner of the registry is deallocated.
    func release() {
        cancelAll(isClosing: true, emitsClosed: false, .ownerDeallocated(name: name))
        Diagnostics.emit(source.event(.deallocated))
    }

    private func cancelAll(isClosing: Bool, emitsClosed: Bool, _ cause: CancellationCause) {
        var moment: EventMoment?
        var outcome = Outcome()
        decide(&outcome, cause: { _ in .known(cause) }) { books, effects in
            moment = Diagnostics.moment
            if isClosing { books.machine.close() }
            books.machine.cancelAll(&effects)
        }
        carryOut(outcome) {
            if emitsClosed { Diagnostics.emit(at: moment, source.event(.closed)) }
            let count = outcome.consequences?.retiredCount ?? 0
            // An owner that ends without tasks cancels nothing.
            if count > 0 || !isClosing { Diagnostics.emit(at: moment, source.event(.cancelledAll, count: count)) }
        }
    }
}
