/// An error that an operation of a ``CoordinationStore`` has thrown, or that another process has published in one.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of an error, which shows whether the operation may have taken effect.
    @nonexhaustive
    public enum Reason: Hashable, Sendable {
        /// The store could not be used, for example because it could not be reached or had no leader. The operation was
        /// not executed.
        case unavailable
        /// The store was called, and gave no usable answer: the operation may have been executed, or may still be executed.
        case ambiguous
        /// A lease that the operation uses does not exist: it has expired or was revoked. Nothing was changed.
        case leaseNotFound
        /// The store requires credentials, or the credentials that it has received do not permit the operation. Nothing
        /// was changed.
        case unauthorized
        /// The content of the store was replaced or lost, with all leases, for example because its file was deleted.
        /// Nothing was changed. The next operation uses the new content.
        case replaced
        /// The store has refused the operation for another reason, such as a value that is too large. Nothing was changed.
        case refused
        /// The operation of a ``FleetFlight`` has failed in another process, which has published the text of its error. The
        /// store itself has not failed.
        case operationFailed
    }

    /// The kind of the error.
    public let reason: Reason
    /// The message of the store or of the network, which contains no credentials, keys or values. If ``reason`` is
    /// ``Reason/operationFailed``, the text of the operation's error, after the `TaskDiagnostics.Configuration.redact` of that
    /// process.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - reason: The kind of the error.
    ///   - message: The message of the store or of the network. It must contain no credentials, keys or values.
    package init(_ reason: Reason, _ message: String) {
        self.reason = reason
        self.message = message
    }

    /// The reason and the message.
    public var description: String { "StoreError(\(reason): \(message))" }
}
