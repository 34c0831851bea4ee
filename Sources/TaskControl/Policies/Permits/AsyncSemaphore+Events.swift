/// By what events know permits that were got.
@usableFromInline
struct PermitHolding: Sendable {
    /// 0: nobody listened when they were asked for.
    fileprivate(set) var number: UInt64 = 0
    /// Whether it is seen when they are given back.
    fileprivate let isLasting: Bool

    @usableFromInline static var lasting: PermitHolding { PermitHolding(isLasting: true) }
    @usableFromInline static var untold: PermitHolding { PermitHolding(isLasting: false) }
}

/// What is told of permits. All of it is called only when somebody listens, and never under the lock.
extension AsyncSemaphore {
    private func event(
        _ kind: TaskEvent.Kind,
        _ stage: TaskEvent.Stage = .goesOn,
        _ subject: UInt64? = nil,
        count: Int? = nil
    ) -> TaskEvent {
        TaskEvent(
            .asyncSemaphore,
            kind,
            stage,
            owner: TaskEvent.Identity(number),
            subject: subject.map { TaskEvent.Identity($0) },
            ownerName: name,
            count: count
        )
    }

    @inline(never)
    func tell(_ kind: TaskEvent.Kind, count: Int? = nil) {
        Diagnostics.tell(event(kind, count: count))
    }

    /// Permits were asked for: they are there, or the wait for them begins.
    @inline(never)
    func tellComing(_ weight: Int, _ holding: inout PermitHolding, _ isAcquired: Bool) {
        // What is got at once, and given back by whomever, has neither beginning nor end.
        if isAcquired, !holding.isLasting { return tell(.acquired, count: weight) }
        holding.number = Diagnostics.nextNumber()
        let event = event(isAcquired ? .acquired : .waiting, .begins, holding.number, count: weight)
        Diagnostics.tell(event, isInside: true)
    }

    @inline(never)
    func tellWaited(_ weight: Int, _ holding: PermitHolding, _ kind: TaskEvent.Kind) {
        let isHeld = kind == .acquired && holding.isLasting
        var event = event(kind, isHeld ? .goesOn : .ends, holding.number, count: weight)
        event.isCancelled = kind == .left
        Diagnostics.tell(event, isInside: true)
    }

    @inline(never)
    func tellReleased(_ weight: Int, _ holding: PermitHolding) {
        var event = event(.released, .ends, holding.number, count: weight)
        event.isCancelled = Task.isCancelled
        Diagnostics.tell(event, isInside: true)
    }
}
