/// A request for permits of an ``AsyncSemaphore``, with the data that its events need. Public as the pass of a semaphore that
/// is a part of a policy.
public struct _PermitHolding: Sendable {
    /// The number with which events identify the request; 0 if they need not identify it, for example because no
    /// observer was registered when the permits were requested.
    fileprivate var number: UInt64 = 0
    /// Whether the call that requested the permits also releases them, as `withPermit(_:)` does.
    fileprivate let isScoped: Bool
    /// The ID of the request among the waiting requests; `nil` if the permits were available at once, or if the caller
    /// was cancelled before the request.
    var id: PermitStorage.Machine.ID?

    @usableFromInline package static var scoped: _PermitHolding { _PermitHolding(isScoped: true) }
    @usableFromInline static var open: _PermitHolding { _PermitHolding(isScoped: false) }

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
        source.emit(
            isAcquired ? .acquired : .waiting,
            .began(isAcquired ? .running : .waiting),
            about: holding.subject,
            count: count,
            at: moment,
            isInside: true
        )
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

/// The permits of a semaphore: an atomic integer while no caller waits, so that an available permit costs one atomic
/// exchange, and otherwise a ``PermitStateMachine`` under a lock.
///
///     lent ──withMachine──▶ held ──no caller waits──▶ lent
///
/// In the state *lent*, the integer is the number of available permits, which are taken and released without the lock.
/// Code that needs the machine takes the lock, and moves this number to the machine. The integer then has the value
/// `held`, and every access without the lock is refused, until the lock is released and no caller waits.
struct PermitStorage: Sendable {
    typealias Machine = PermitStateMachine

    private let state: Locked<Machine>
    let size: Int
    private let lent: AtomicWord
    /// The value of `lent` while the ``PermitStateMachine`` counts the available permits instead.
    private static var held: Int64 { -1 }

    init(size: Int) {
        state = Locked(Machine(size: size))
        self.size = size
        lent = AtomicWord(Int64(size))
    }

    func deallocate() { lent.deallocate() }

    /// Takes `count` permits without the lock.
    ///
    /// - Returns: Whether the permits are taken. `false` if too few are available or a caller waits: then
    ///   `withMachine(_:)` must be used instead.
    @inline(__always)
    func take(_ count: Int) -> Bool {
        lent.replace { $0 >= count ? $0 - Int64(count) : nil }
    }

    /// Releases `count` permits without the lock.
    ///
    /// - Returns: Whether the permits are released. `false` if a caller waits, or if more permits are released than
    ///   were taken: then `withMachine(_:)` must be used instead.
    @inline(__always)
    func putBack(_ count: Int) -> Bool {
        lent.replace { $0 != Self.held && count <= size - Int($0) ? $0 + Int64(count) : nil }
    }

    func withMachine<Answer>(_ event: (inout Machine) -> Answer) -> Answer {
        state.withLock { machine in
            let available = lent.exchange(Self.held)
            if available != Self.held { machine.takeBack(Int(available)) }
            defer { if machine.waiterCount == 0 { lent.store(Int64(machine.available)) } }
            return event(&machine)
        }
    }

    var available: Int {
        let available = lent.value
        return available == Self.held ? withMachine { $0.available } : Int(available)
    }
}
