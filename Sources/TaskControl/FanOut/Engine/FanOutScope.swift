/// One call of a fan-out, as the causes of cancellations know it: its operations have the causes of the call, and the call those of its caller.
///
/// The tasks are linked to the call and not to the caller, so that one record is the cause for all operations.
@usableFromInline
final class _FanOutScope: Sendable {
    private static let failed = CancellationCause.requested(reason: "another operation has failed")

    private let caller: TaskAddress?

    /// - Parameter isStructured: Whether the call ends before its caller, the running task.
    @usableFromInline
    init(isStructured: Bool = true) {
        caller = isStructured ? .running : nil
        if let caller { CancellationCauses.link(address, to: caller) }
    }

    private var address: TaskAddress { TaskAddress(standIn: self) }

    /// An operation begins in the running task.
    @usableFromInline
    func begin() { CancellationCauses.link(.running, to: address) }

    /// The operation of the running task has ended.
    @usableFromInline
    func end() { CancellationCauses.forget(.running) }

    /// The operations are cancelled after this, since one of them has failed.
    @usableFromInline
    func fail() { cancel(because: Self.failed) }

    /// The operations are cancelled after this.
    func cancel(because cause: CancellationCause) {
        CancellationCauses.record(cause, forCall: address, of: caller)
    }

    deinit { CancellationCauses.forget(address) }
}
