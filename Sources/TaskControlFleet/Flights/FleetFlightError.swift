/// The error of a ``FleetFlight`` whose operation has failed in another process.
public struct FleetFlightError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key of the flight.
    public let key: String
    /// The error of the operation as a text, or the reason for which the published result cannot be read.
    public let message: String

    /// Creates an error, for tests.
    ///
    /// - Parameters:
    ///   - key: The key of the flight.
    ///   - message: The error of the operation as a text.
    public init(key: String, message: String) {
        (self.key, self.message) = (key, message)
    }

    /// A sentence with the key and the text of the error.
    public var description: String { "the operation for \"\(key)\" failed in another process: \(message)" }
}
