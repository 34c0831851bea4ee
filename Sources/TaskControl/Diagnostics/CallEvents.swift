/// The emitter of the events of one call of a function such as `retry`. The call is the ``TaskEvent/subject`` of its
/// events. Created only while an observer is registered.
package final class CallEvents: Sendable {
    private let primitive: TaskEvent.Primitive
    private let owner: TaskEvent.Identity?
    private let ownerName: String?
    private let begun: Duration
    package let subject = TaskEvent.Identity(Diagnostics.nextNumber())

    private init(_ primitive: TaskEvent.Primitive, owner: TaskEvent.Identity?, ownerName: String?) {
        self.primitive = primitive
        self.owner = owner
        self.ownerName = ownerName
        begun = Observation.current.time
    }

    /// Emits the event that begins a call, and returns the object that emits its later events.
    ///
    /// The parameters are the values of the event: see the properties of ``TaskEvent`` with the same names. `phase` is
    /// the phase in which the call begins, and `owner` the instance that was called, if any.
    ///
    /// - Returns: The object that emits the later events; `nil` while no observer is registered.
    @inline(__always)
    package static func begin(
        _ primitive: @autoclosure () -> TaskEvent.Primitive,
        _ kind: @autoclosure () -> TaskEvent.Kind,
        _ phase: TaskEvent.Phase,
        owner: @autoclosure () -> TaskEvent.Identity? = nil,
        ownerName: @autoclosure () -> String? = nil,
        error: (any Error)? = nil,
        detail: @autoclosure () -> String? = nil,
        attempt: Int? = nil,
        delay: Duration? = nil
    ) -> CallEvents? {
        Diagnostics.whileObserved(
            begun(
                primitive(),
                kind(),
                phase,
                owner(),
                ownerName(),
                error: error,
                detail: detail(),
                attempt: attempt,
                delay: delay
            )
        )
    }

    @inline(never)
    private static func begun(
        _ primitive: TaskEvent.Primitive,
        _ kind: TaskEvent.Kind,
        _ phase: TaskEvent.Phase,
        _ owner: TaskEvent.Identity?,
        _ ownerName: String?,
        error: (any Error)?,
        detail: String?,
        attempt: Int?,
        delay: Duration?
    ) -> CallEvents {
        let call = CallEvents(primitive, owner: owner, ownerName: ownerName)
        call.emit(kind, .began(phase), error: error, detail: detail, attempt: attempt, delay: delay)
        return call
    }

    /// Emits an event of the call. The other parameters are the values of the event: see the properties of
    /// ``TaskEvent`` with the same names.
    ///
    /// - Parameters:
    ///   - moment: The moment of the decision that the event reports, if the decision was made earlier; `nil` for the
    ///     current moment.
    ///   - isInside: Whether the current task is the one that runs the call; its name is then added to the event.
    @inline(never)
    package func emit(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        at moment: EventMoment? = nil,
        error: (any Error)? = nil,
        detail: String? = nil,
        attempt: Int? = nil,
        status: Int? = nil,
        delay: Duration? = nil,
        isInside: Bool = true
    ) {
        guard let moment = moment ?? Diagnostics.moment else { return }
        var event = TaskEvent(
            primitive,
            kind,
            change,
            owner: owner,
            subject: subject,
            ownerName: ownerName,
            error: error,
            detail: detail,
            attempt: attempt,
            status: status,
            delay: delay
        )
        // The time of the beginning, which becomes the age when the event gets its time.
        if case .ended = change { event.age = begun }
        Diagnostics.emit(at: moment, isInside: isInside, event)
    }

    /// Emits the event that ends the call with `outcome`. The other parameters are the same as in `emit`.
    package func end(
        _ kind: TaskEvent.Kind,
        _ outcome: TaskEvent.Outcome,
        at moment: EventMoment? = nil,
        error: (any Error)? = nil,
        attempt: Int? = nil,
        status: Int? = nil
    ) {
        emit(kind, .ended(outcome), at: moment, error: error, attempt: attempt, status: status)
    }
}
