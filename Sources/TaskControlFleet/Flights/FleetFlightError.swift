/// The error that ``FleetFlight`` throws if the operation has failed in another process.
public struct FleetFlightError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key that was passed to ``FleetFlight/value(for:operation:)``.
    public var key: String { storeKey.text }
    private let storeKey: StoreKey
    /// The text of the operation's error, after that process's `TaskDiagnostics.Configuration.redact`.
    public let message: String

    /// Creates an error. Intended for tests.
    ///
    /// - Parameters:
    ///   - key: The key that was passed to ``FleetFlight/value(for:operation:)``.
    ///   - message: The text of the operation's error.
    package init(key: String, message: String) {
        (storeKey, self.message) = (StoreKey(key), message)
    }

    /// A sentence with the key and the ``message``.
    public var description: String { "the operation for \"\(key)\" failed in another process: \(message)" }
}
