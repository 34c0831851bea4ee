/// The error of a call of ``SingleFlight`` or ``withSingleFlight(key:operation:)`` from inside the operation of the
/// same key: the call would wait for that operation, and so for itself, forever.
///
/// The operation that callers of one key share is called a *flight*. The child tasks of a flight, the flights of other
/// keys that it starts, and a new `Task` that it creates also count as inside the flight, until the flight has ended.
/// Two flights of one object that wait for each other also count as inside each other.
///
/// Two flights of different objects that wait for each other are not detected if each was started by another caller:
/// they wait forever, like two threads that take two locks in opposite orders.
///
/// To fix the mistake, do the work in the running operation, or give the inner work another key.
public struct SingleFlightReentrancyError: Error, Sendable, CustomStringConvertible {
    /// The key that was requested from inside its own operation.
    public let key: any Hashable & Sendable

    /// Creates the error, for tests and for types of your own.
    ///
    /// - Parameter key: The key that was requested from inside its own operation.
    public init(key: any Hashable & Sendable) {
        self.key = key
    }

    /// A sentence that names the key and states how to fix the mistake.
    public var description: String {
        "The flight of the key \(String(reflecting: key)) was requested from inside itself, and would wait for itself forever. Do the "
            + "work in the current flight, or give it another key."
    }
}

extension SingleFlightReentrancyError: ProgrammingMistake {}
