extension TaskRegistry {
    func cancel(key: Key) {
        change { $0.machine.cancel(key: key) }
    }

    func cancel(_ id: ID) {
        change { $0.machine.cancel(id) }
    }

    func cancelAll() {
        let decision = decide { Machine.Answer(value: (), effects: $0.machine.cancelAll()) }
        if Diagnostics.isOn { tell(.cancelledAll, count: decision.effects.lists?.retired.count ?? 0) }
        carryOut(decision)
    }

    /// Refuses later tasks. The tasks that are there go on.
    func refuse() {
        state.withLock { $0.machine.close() }
        if Diagnostics.isOn { tell(.closed) }
    }

    /// Refuses later tasks, and cancels those that are there.
    func close() {
        if Diagnostics.isOn { tell(.closed) }
        shut()
    }

    /// The face is deallocated.
    func release() {
        shut()
        if Diagnostics.isOn { tell(.deallocated) }
    }

    private func shut() {
        let decision = decide { books in
            books.machine.close()
            return Machine.Answer(value: (), effects: books.machine.cancelAll())
        }
        if Diagnostics.isOn, let lists = decision.effects.lists { tell(.cancelledAll, count: lists.retired.count) }
        carryOut(decision)
    }
}
