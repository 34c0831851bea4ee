/// The error of a call of ``SingleFlight`` or ``withSingleFlight(key:operation:)`` that asks for a key from inside the
/// operation of the same key. The call would wait for that operation, and so for itself, forever.
///
/// A *flight* is one run of an operation, which all callers of its key share. Calls by the child tasks of the
/// operation, and by a new `Task` that it creates, also count as inside, until the flight has ended.
///
/// The error is also thrown if flights of any objects, or flights and turns of queues, would wait for each other: the
/// call that would complete the circle throws, its operation fails, and with it all of the circle, so the keys can be
/// used again. `CachedFlight` and `FleetFlight` of the other modules throw the error in the same cases.
///
/// To fix the mistake, do the inner work directly in the running operation, or give it another key.
public struct SingleFlightReentrancyError: Error, Sendable, CustomStringConvertible {
    /// The text of the key for which the call that threw the error has asked: its description.
    public let key: String

    /// Creates the error, for tests and for types of your own.
    ///
    /// - Parameter key: The text of the key for which the call has asked.
    public init(key: String) {
        self.key = key
    }

    /// A sentence that names the key and states how to fix the mistake.
    public var description: String {
        "The flight of the key \"\(key)\" was requested from inside itself, or by code that it waits for, and would wait for itself "
            + "forever. Do the work in the current flight, or give it another key."
    }
}

extension SingleFlightReentrancyError: ProgrammingMistake {}
