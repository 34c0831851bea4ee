/// The instance, such as a ``FIFOQueue`` or an ``AsyncLifetime``, that events come from.
package struct EventSource: Sendable {
    package let primitive: TaskEvent.Primitive
    /// The name with which the instance was created; `nil` if it has none.
    package let name: String?
    /// The number of the instance in events. Assigned when the instance is created, so that all observers receive the
    /// same number.
    package let number = Diagnostics.nextNumber()

    package init(_ primitive: TaskEvent.Primitive, name: String? = nil) {
        self.primitive = primitive
        self.name = name
    }

    package var identity: TaskEvent.Identity { TaskEvent.Identity(number) }

    /// Creates an event of this instance, for `Diagnostics.emit`. The parameters are the values of the event: see the
    /// properties of ``TaskEvent`` with the same names.
    @inline(never)
    package func event(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        about subject: TaskEvent.Identity? = nil,
        taskName: String? = nil,
        key: String? = nil,
        error: (any Error)? = nil,
        detail: String? = nil,
        count: Int? = nil,
        attempt: Int? = nil,
        delay: Duration? = nil,
        isCancelled: Bool = false
    ) -> TaskEvent {
        TaskEvent(
            primitive,
            kind,
            change,
            owner: identity,
            subject: subject,
            ownerName: name,
            taskName: taskName,
            key: key,
            error: error,
            detail: detail,
            count: count,
            attempt: attempt,
            delay: delay,
            isCancelled: isCancelled
        )
    }

    // MARK: Drains

    /// Emits the event that begins a wait of the current task until the tasks of the instance have ended.
    ///
    /// - Returns: The identity of the wait, for `emitDrained(_:hasLeft:)`; `nil` while no observer is registered.
    @inline(__always)
    package func emitDraining() -> TaskEvent.Identity? {
        guard let wait = Diagnostics.whileObserved(TaskEvent.Identity(Diagnostics.nextNumber())) else { return nil }
        Diagnostics.emit(isInside: true, event(.draining, .began(.waiting), about: wait))
        return wait
    }

    /// Emits the event that ends a wait for which `emitDraining()` was called.
    ///
    /// - Parameters:
    ///   - wait: The result of `emitDraining()`. If it is `nil`, no event is emitted.
    ///   - hasLeft: Whether the current task stopped waiting because it was cancelled; `false` if the tasks have ended.
    @inline(__always)
    package func emitDrained(_ wait: TaskEvent.Identity?, hasLeft: Bool) {
        guard let wait else { return }
        Diagnostics.emit(
            isInside: true,
            event(
                hasLeft ? .left : .drained,
                .ended(hasLeft ? .cancelled : .completed),
                about: wait,
                isCancelled: hasLeft
            )
        )
    }
}
