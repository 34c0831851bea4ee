/// An error that is thrown when a lease is no longer valid: another process may hold the lease now.
///
/// If the lease is lost while the body of ``withLease(_:in:timeToLive:holder:clock:body:)`` runs, `withLease` throws this error after the body has
/// ended, regardless of the value or the error of the body. ``Lease/check()`` throws this error as soon as the lease is not valid.
public struct LeaseLostError: Error, Sendable, CustomStringConvertible {
    /// The reason for which a lease is no longer valid.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The lease could not be renewed in time, for example because the store was unreachable or the process was paused.
        case expired
        /// The holder's entry is no longer in the store: its lease has expired there or was revoked, or the entry was deleted.
        case removed
        /// The body of `withLease` has already ended, and the lease was released.
        case ended
    }

    /// The name of the lease.
    public let name: String
    /// The reason for which the lease is no longer valid.
    public let reason: Reason
    /// The error that the body has thrown; `nil` if the body has returned a value or has not ended.
    public let underlyingError: (any Error)?

    /// Creates an error. Intended for tests.
    ///
    /// - Parameters:
    ///   - name: The name of the lease.
    ///   - reason: The reason for which the lease is no longer valid.
    ///   - underlyingError: The error that the body has thrown; `nil` if there is none.
    public init(name: String, reason: Reason, underlyingError: (any Error)? = nil) {
        self.name = name
        self.reason = reason
        self.underlyingError = underlyingError
    }

    /// A sentence with the name of the lease, the reason, and the error of the body.
    public var description: String {
        let text =
            switch reason {
            case .expired: "the lease \"\(name)\" could not be renewed in time"
            case .removed: "the lease \"\(name)\" is no longer in the store"
            case .ended: "the lease \"\(name)\" was released"
            }
        return underlyingError.map { "\(text) (\($0))" } ?? text
    }
}
