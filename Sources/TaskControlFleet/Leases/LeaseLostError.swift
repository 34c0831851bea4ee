/// An error that is thrown when a lease is no longer valid: another process may hold the lease now.
///
/// If the lease is lost while the body of ``withLease(_:in:timeToLive:holder:clock:body:)`` runs, `withLease` throws
/// this error after the body has ended, whether the body has returned a value or thrown an error. If the caller of
/// `withLease` is cancelled as well, `withLease` throws `CancellationError` instead. ``Lease/check()`` throws this
/// error whenever the lease is not valid.
public struct LeaseLostError: Error, Sendable, CustomStringConvertible {
    /// The reason for which a lease is no longer valid.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The lease could not be renewed in time, for example because the store was unreachable or the process was paused.
        case expired
        /// The entry that stands for the holder is no longer in the ``CoordinationStore``: the lease has expired there
        /// or was revoked, or the entry was deleted.
        case removed
        /// The ``Lease`` was used after the body of `withLease` had ended. When the body ends, the lease is released.
        case ended
    }

    /// The name of the lease.
    public let name: String
    /// The reason for which the lease is no longer valid.
    public let reason: Reason
    /// The error for which the lease could not be renewed in time: that of the last call of the store, such as a
    /// ``StoreError`` with the reason ``StoreError/Reason/unauthorized``, or that of the clock. `nil` if no call has
    /// failed, for example because the process was paused, and for other reasons than ``Reason/expired``.
    public let renewalError: (any Error)?
    /// The error that the body of `withLease` has thrown. `nil` if the body has returned a value, if it has ended its
    /// work with the `CancellationError` of the loss, and in the errors that ``Lease/check()`` throws.
    public let underlyingError: (any Error)?

    /// Creates an error, for tests of code that handles the error.
    ///
    /// - Parameters:
    ///   - name: The name of the lease.
    ///   - reason: The reason for which the lease is no longer valid.
    ///   - renewalError: The error for which the lease could not be renewed; `nil` if there is none.
    ///   - underlyingError: The error that the body of `withLease` has thrown; `nil` if there is none.
    public init(
        name: String,
        reason: Reason,
        renewalError: (any Error)? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.name = name
        self.reason = reason
        self.renewalError = renewalError
        self.underlyingError = underlyingError
    }

    /// A text with the name of the lease, the reason, and the ``renewalError`` and the ``underlyingError`` if there are
    /// any.
    public var description: String {
        let text =
            switch reason {
            case .expired: "the lease \"\(name)\" could not be renewed in time"
            case .removed: "the lease \"\(name)\" is no longer in the store"
            case .ended: "the lease \"\(name)\" was released"
            }
        return (renewalError.map { "\(text): \($0)" } ?? text) + (underlyingError.map { " (\($0))" } ?? "")
    }
}
