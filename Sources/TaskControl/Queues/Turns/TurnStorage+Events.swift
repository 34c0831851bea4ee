/// The events of a queue and its turns.
extension _TurnStorage {
    func subject(_ id: ID) -> TaskEvent.Identity { TaskEvent.Identity(id.number, of: source.number) }

    /// Emits an event about a turn. Called by the task whose turn it is.
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - change: The effect of the event on the phase of the turn.
    ///   - id: The turn.
    func emit(_ kind: TaskEvent.Kind, _ change: TaskEvent.Change, _ id: ID) {
        Diagnostics.emit(isInside: true, source.event(kind, change, about: subject(id)))
    }

    @inline(never)
    func emitEnd(_ end: _TurnEnd, _ id: ID, at moment: EventMoment) {
        let (kind, outcome, error): (TaskEvent.Kind, TaskEvent.Outcome, (any Error)?) =
            switch end {
            case .completed: (.completed, .completed, nil)
            case .failed(let error): (.failed, .failed, error)
            case .skipped: (.skipped, .skipped, nil)
            }
        Diagnostics.emit(
            at: moment,
            isInside: true,
            source.event(kind, .ended(outcome), about: subject(id), error: error)
        )
    }
}
