extension TaskRegistry {
    func cancel(key: Key) {
        change { $0.machine.cancel(key: key, &$1) }
    }

    func cancel(_ id: ID) {
        change { $0.machine.cancel(id, &$1) }
    }

    func cancelAll() {
        cancelAll(isClosing: false, emitsClosed: false)
    }

    /// Refuses later tasks. The tasks that are there go on.
    func refuse() {
        let moment = state.withLock { books in
            books.machine.close()
            return Diagnostics.moment
        }
        Diagnostics.emit(at: moment, source.event(.closed))
    }

    /// Refuses later tasks, and cancels those that are there.
    func close() {
        cancelAll(isClosing: true, emitsClosed: true)
    }

    /// The face is deallocated.
    func release() {
        cancelAll(isClosing: true, emitsClosed: false)
        Diagnostics.emit(source.event(.deallocated))
    }

    private func cancelAll(isClosing: Bool, emitsClosed: Bool) {
        var moment: EventMoment?
        var outcome = Outcome()
        decide(&outcome) { books, effects in
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
