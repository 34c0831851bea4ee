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

    // MARK: Events

    /// Emits an event that has no values but its subject. While no observer is registered, this is one relaxed atomic
    /// load.
    ///
    /// - Parameters:
    ///   - moment: The ``Diagnostics/moment`` of the decision that the event reports, if it was made earlier. If it is
    ///     `nil`, nothing is emitted.
    ///   - isInside: Whether the current task is the subject of the event; its name is then added to the event.
    @inline(__always)
    package func emit(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        about subject: TaskEvent.Identity? = nil,
        at moment: EventMoment? = Diagnostics.moment,
        isInside: Bool = false
    ) {
        if let moment { deliver(kind, change, subject, moment, isInside) }
    }

    /// Returns a text that names a task together with its owner, this instance.
    package func place(of task: String) -> String {
        "\"\(task)\" of \(primitive)\(name.map { " \"\($0)\"" } ?? "")"
    }

    /// Emits an event like `emit(_:_:about:at:isInside:)`. The other parameters are the values of the event: see the
    /// properties of ``TaskEvent`` with the same names. The texts are made only while an observer is registered.
    @inline(__always)
    package func emit(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change = .noted,
        about subject: TaskEvent.Identity? = nil,
        taskName: String? = nil,
        key: @autoclosure () -> String? = nil,
        error: (any Error)? = nil,
        detail: @autoclosure () -> String? = nil,
        count: Int? = nil,
        attempt: Int? = nil,
        delay: Duration? = nil,
        isCancelled: Bool = false,
        at moment: EventMoment? = Diagnostics.moment,
        isInside: Bool = false
    ) {
        guard let moment else { return }
        deliver(
            kind,
            change,
            subject,
            moment,
            isInside,
            taskName: taskName,
            key: key(),
            error: error,
            detail: detail(),
            count: count,
            attempt: attempt,
            delay: delay,
            isCancelled: isCancelled
        )
    }

    /// Emits the event that begins a subject for which ``Diagnostics/open(_:)`` was called, and then the events about
    /// that subject that were held back. The parameters are those of `emit`.
    @inline(__always)
    package func emitBeginning(
        _ kind: TaskEvent.Kind,
        _ phase: TaskEvent.Phase,
        of subject: TaskEvent.Identity,
        taskName: String? = nil,
        key: @autoclosure () -> String? = nil,
        isInside: Bool = false
    ) {
        if Diagnostics.isUnobserved { return }
        deliverBeginning(kind, phase, subject, taskName, key(), isInside)
    }

    // A `TaskEvent` has many values, so the code that makes one is long. It is here, and in no caller of `emit`.

    @inline(never)
    private func deliver(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change,
        _ subject: TaskEvent.Identity?,
        _ moment: EventMoment,
        _ isInside: Bool
    ) {
        deliver(kind, change, subject, moment, isInside, taskName: nil)
    }

    @inline(never)
    private func deliver(
        _ kind: TaskEvent.Kind,
        _ change: TaskEvent.Change,
        _ subject: TaskEvent.Identity?,
        _ moment: EventMoment,
        _ isInside: Bool,
        taskName: String?,
        key: String? = nil,
        error: (any Error)? = nil,
        detail: String? = nil,
        count: Int? = nil,
        attempt: Int? = nil,
        delay: Duration? = nil,
        isCancelled: Bool = false
    ) {
        let event = TaskEvent(
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
        EventDelivery.deliver(event, moment, isInside)
    }

    @inline(never)
    private func deliverBeginning(
        _ kind: TaskEvent.Kind,
        _ phase: TaskEvent.Phase,
        _ subject: TaskEvent.Identity,
        _ taskName: String?,
        _ key: String?,
        _ isInside: Bool
    ) {
        let event = TaskEvent(
            primitive,
            kind,
            .began(phase),
            owner: identity,
            subject: subject,
            ownerName: name,
            taskName: taskName,
            key: key
        )
        EventDelivery.deliverBeginning(event, isInside)
    }

    // MARK: Drains

    /// Emits the event that begins a wait of the current task until the tasks of the instance have ended.
    ///
    /// - Returns: The identity of the wait, for `emitDrained(_:hasLeft:)`; `nil` while no observer is registered.
    @inline(__always)
    package func emitDraining() -> TaskEvent.Identity? {
        guard let wait = Diagnostics.whileObserved(TaskEvent.Identity(Diagnostics.nextNumber())) else { return nil }
        emit(.draining, .began(.waiting), about: wait, isInside: true)
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
        emit(
            hasLeft ? .left : .drained,
            .ended(hasLeft ? .cancelled : .completed),
            about: wait,
            isCancelled: hasLeft,
            isInside: true
        )
    }
}
