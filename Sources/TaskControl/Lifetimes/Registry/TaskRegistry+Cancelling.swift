extension TaskRegistry {
    func cancel(key: Key) {
        change { $0.machine.cancel(key: key) }
    }

    func cancel(_ id: ID) {
        change { $0.machine.cancel(id) }
    }

    func cancelAll() {
        var moment: EventMoment?
        let decision = decide { books in
            moment = Diagnostics.moment
            return Machine.Answer(value: (), effects: books.machine.cancelAll())
        }
        carryOut(decision) {
            let count = decision.effects.lists?.retired.count ?? 0
            Diagnostics.emit(at: moment, source.event(.cancelledAll, count: count))
        }
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
        shut(isClosing: true)
    }

    /// The face is deallocated.
    func release() {
        shut(isClosing: false)
        Diagnostics.emit(source.event(.deallocated))
    }

    /// - Parameter isClosing: Whether the owner stays, and emits that it is closed.
    private func shut(isClosing: Bool) {
        var moment: EventMoment?
        let decision = decide { books in
            moment = Diagnostics.moment
            books.machine.close()
            return Machine.Answer(value: (), effects: books.machine.cancelAll())
        }
        carryOut(decision) {
            if isClosing { Diagnostics.emit(at: moment, source.event(.closed)) }
            guard let lists = decision.effects.lists else { return }
            Diagnostics.emit(at: moment, source.event(.cancelledAll, count: lists.retired.count))
        }
    }
}
