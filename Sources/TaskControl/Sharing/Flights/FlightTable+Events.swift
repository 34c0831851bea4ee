/// The events of flights.
extension _FlightTable {
    var name: String? { source.name }

    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits the event that begins a flight. Called in the task of the first caller, which has created the task of the
    /// flight.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - key: The key of the flight; `nil` if it has none.
    ///   - taskName: The name of the flight's task; `nil` if it has none.
    func emitBegun(_ id: ID, _ key: _ErasedKey?, _ taskName: String?) {
        Diagnostics.emitBeginning(
            isInside: true,
            source.event(.started, .began(.waiting), about: subject(id), taskName: taskName, key: key?.text)
        )
    }

    func emitJoined(_ id: ID, _ key: _ErasedKey?, at moment: EventMoment?) {
        Diagnostics.emit(at: moment, isInside: true, source.event(.joined, about: subject(id), key: key?.text))
    }

    func emitRunning(_ id: ID, _ key: _ErasedKey?) {
        Diagnostics.emit(
            isInside: true,
            source.event(.running, .entered(.running), about: subject(id), key: key?.text)
        )
    }

    func emitLeft(_ id: ID) {
        Diagnostics.emit(isInside: true, source.event(.left, about: subject(id)))
    }

    /// Emits the end of a flight.
    ///
    /// - Parameters:
    ///   - id: The flight.
    ///   - key: The key of the flight; `nil` if it has none.
    ///   - failure: The error of the flight; `nil` if the flight has a value.
    ///   - hasBegun: Whether the operation was called. If not, the flight was cancelled before, and counts as skipped.
    ///   - isCancelled: Whether the flight was cancelled. Its task may receive that cancellation a moment later.
    ///   - moment: The moment at which the flight ended.
    @inline(never)
    func emitEnd(
        _ id: ID,
        _ key: _ErasedKey?,
        _ failure: (any Error)?,
        hasBegun: Bool,
        isCancelled: Bool,
        at moment: EventMoment
    ) {
        let (kind, outcome): (TaskEvent.Kind, TaskEvent.Outcome) =
            failure == nil ? (.completed, .completed) : hasBegun ? (.failed, .failed) : (.skipped, .skipped)
        Diagnostics.emit(
            at: moment,
            isInside: true,
            source.event(
                kind,
                .ended(outcome),
                about: subject(id),
                key: key?.text,
                error: hasBegun ? failure : nil,
                isCancelled: isCancelled
            )
        )
    }

    func emitCancelled(_ ids: [ID], because cause: CancellationCause, at moment: EventMoment) {
        Diagnostics.emit(at: moment, source.event(.cancelledAll, count: ids.count))
        for id in ids {
            Diagnostics.emit(at: moment, source.event(.cancelled, about: subject(id), detail: cause.eventText))
        }
    }
}
