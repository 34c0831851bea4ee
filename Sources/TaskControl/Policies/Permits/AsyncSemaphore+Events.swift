/// A request for permits of an ``AsyncSemaphore``, with the data that its events need. Public as the pass of a semaphore that
/// is a part of a policy.
public struct _PermitHolding: Sendable {
    /// The number with which events identify the request; 0 if they need not identify it, for example because no
    /// observer was registered when the permits were requested.
    fileprivate var number: UInt64 = 0
    /// Whether the call that requested the permits also releases them, as `withPermit(_:)` does.
    fileprivate let isScoped: Bool
    fileprivate var form = Form.plain
    /// The ID of the request among the waiting requests; `nil` if the permits were available at once, or if the caller
    /// was cancelled before the request.
    var id: PermitStorage.Machine.ID?

    @usableFromInline package static var scoped: _PermitHolding { _PermitHolding(isScoped: true) }
    @usableFromInline static var open: _PermitHolding { _PermitHolding(isScoped: false) }
    static var value: _PermitHolding { _PermitHolding(isScoped: true, form: .value) }
    static var limited: _PermitHolding { _PermitHolding(isScoped: false, form: .limited) }

    fileprivate enum Form {
        case plain
        /// The permits are a value, which another task may hold than the one that requested them.
        case value
        /// The caller waits until a time limit at most.
        case limited

        var primitive: TaskEvent.Primitive {
            switch self {
            case .plain: .asyncSemaphore
            case .value: .permitValue
            case .limited: .limitedRequest
            }
        }
    }

    /// Whether events identify the request by its `number`.
    var isObserved: Bool { number != 0 }

    fileprivate var subject: TaskEvent.Identity? { number == 0 ? nil : TaskEvent.Identity(number) }
}

/// The events of the permits of a semaphore.
extension AsyncSemaphore {
    /// Emits the event of a request: the permits were acquired at once, or the caller begins to wait for them. Stores a
    /// number in `holding` if later events of the request follow.
    ///
    /// - Parameters:
    ///   - count: The number of requested permits.
    ///   - holding: The request.
    ///   - isAcquired: Whether the permits were acquired at once.
    ///   - moment: The moment at which the permits were acquired, or the caller was added to the line.
    func emitRequest(_ count: Int, _ holding: inout _PermitHolding, isAcquired: Bool, at moment: EventMoment) {
        // Any caller may release these permits, so the end of the request would be unknown: the event has no subject.
        if isAcquired, !holding.isScoped {
            return source.emit(.acquired, count: count, at: moment)
        }
        holding.number = Diagnostics.nextNumber()
        let event = TaskEvent(
            holding.form.primitive,
            isAcquired ? .acquired : .waiting,
            .began(isAcquired ? .running : .waiting),
            owner: source.identity,
            subject: holding.subject,
            ownerName: source.name,
            count: count
        )
        Diagnostics.emit(at: moment, isInside: true, event)
    }

    func emitAcquired(_ count: Int, _ holding: _PermitHolding) {
        guard let subject = holding.subject else { return }
        source.emit(
            .acquired,
            holding.isScoped ? .entered(.running) : .ended(.completed),
            about: subject,
            count: count,
            isInside: true
        )
    }

    /// Emits that a caller has left the line.
    ///
    /// - Parameter isLate: Whether its time limit has passed, and not the caller was cancelled.
    func emitLeft(_ count: Int, _ holding: _PermitHolding, isLate: Bool, at moment: EventMoment?) {
        guard let subject = holding.subject else { return }
        source.emit(
            .left,
            .ended(isLate ? .timedOut : .cancelled),
            about: subject,
            count: count,
            isCancelled: !isLate,
            at: moment,
            isInside: true
        )
    }

    func emitReleased(_ count: Int, _ holding: _PermitHolding, at moment: EventMoment?) {
        guard let subject = holding.subject else { return }
        source.emit(.released, .ended(.completed), about: subject, count: count, at: moment, isInside: true)
    }
}
