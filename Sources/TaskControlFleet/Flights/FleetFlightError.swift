/// The error that ``FleetFlight`` throws if the operation has failed in another process, or if the result that the
/// other process has stored cannot be read.
public struct FleetFlightError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key that was passed to ``FleetFlight/value(for:operation:)``.
    public let key: String
    /// The text of the operation's error, or the reason for which the result in the store cannot be read.
    public let message: String

    /// Creates an error. Intended for tests.
    ///
    /// - Parameters:
    ///   - key: The key that was passed to ``FleetFlight/value(for:operation:)``.
    ///   - message: The text of the operation's error, or the reason for which the result in the store cannot be read.
    public init(key: String, message: String) {
        (self.key, self.message) = (key, message)
    }

    /// A sentence with the key and the ``message``.
    public var description: String { "the operation for \"\(key)\" failed in another process: \(message)" }
}
