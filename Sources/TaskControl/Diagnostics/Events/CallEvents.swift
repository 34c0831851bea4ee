/// What is told of one call that has no instance to belong to: made, and told of, only when somebody listens.
package final class CallEvents: Sendable {
    private let primitive: TaskEvent.Primitive
    private let owner: TaskEvent.Identity?
    private let begun: TaskEvent.Moment?
    package let subject = TaskEvent.Identity(Diagnostics.nextNumber())

    /// Tells the beginning.
    @inline(never)
    package init(
        _ primitive: TaskEvent.Primitive,
        _ kind: TaskEvent.Kind,
        owner: TaskEvent.Identity? = nil,
        error: (any Error)? = nil,
        detail: String? = nil,
        attempt: Int? = nil,
        delay: Duration? = nil
    ) {
        self.primitive = primitive
        self.owner = owner
        begun = Diagnostics.moment
        tell(kind, .begins, error: error, detail: detail, attempt: attempt, delay: delay)
    }

    @inline(never)
    package func tell(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage = .goesOn,
        error: (any Error)? = nil,
        detail: String? = nil,
        attempt: Int? = nil,
        status: Int? = nil,
        delay: Duration? = nil,
        isInside: Bool = true
    ) {
        var event = TaskEvent(
            primitive,
            kind,
            stage,
            owner: owner,
            subject: subject,
            error: error.map(Diagnostics.text),
            detail: detail,
            attempt: attempt,
            status: status,
            delay: delay,
            begun: stage == .ends ? begun : nil
        )
        event.isCancelled = stage == .ends && Task.isCancelled
        Diagnostics.tell(event, isInside: isInside)
    }

    package func end(
        _ kind: TaskEvent.Kind,
        error: (any Error)? = nil,
        detail: String? = nil,
        attempt: Int? = nil,
        status: Int? = nil
    ) {
        tell(kind, .ends, error: error, detail: detail, attempt: attempt, status: status)
    }
}
