/// The error of a call that is inside the flight of its own key, for which it would wait forever.
///
/// The child tasks of a flight, the flights of other keys that it starts, and a new `Task` that it creates also count as inside the flight, until it
/// has ended. Two flights of one object that wait for each other also count as inside each other.
///
/// Two flights of different objects that wait for each other are not detected, if each was started by another caller: they wait forever, like two locks
/// that are taken in opposite orders.
///
/// To fix it, do the work in the running flight, or give the inner work another key.
public struct SingleFlightReentrancyError: Error, Sendable, CustomStringConvertible {
    /// The key of the flight.
    public let key: any Hashable & Sendable

    /// Creates the error, for tests and for types of your own.
    ///
    /// - Parameter key: The key of the flight.
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
