/// The error of an operation whose lease is no longer valid: another process can hold it.
///
/// `withLease` throws it after its body has ended, regardless of what the body has returned or thrown. ``Lease/check()`` throws it as well.
public struct LeaseLostError: Error, Sendable, CustomStringConvertible {
    /// The reason for which a lease is no longer valid.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The lease could not be renewed in time, for example because the store was unreachable or the process was paused.
        case expired
        /// The entry of the holder is no longer in the store: its lease has expired there or was revoked, or the entry was deleted.
        case removed
        /// The body of `withLease` has returned: the lease was released.
        case ended
    }

    /// The name of the lease.
    public let name: String
    /// The reason for which the lease is no longer valid.
    public let reason: Reason
    /// The error of the body; `nil` if the body has returned a value, or has not ended.
    public let underlyingError: (any Error)?

    /// Creates the error of a lease, for tests.
    ///
    /// - Parameters:
    ///   - name: The name of the lease.
    ///   - reason: The reason for which the lease is no longer valid.
    ///   - underlyingError: The error of the body.
    public init(name: String, reason: Reason, underlyingError: (any Error)? = nil) {
        self.name = name
        self.reason = reason
        self.underlyingError = underlyingError
    }

    /// A sentence with the name and the reason, and the error of the body.
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
