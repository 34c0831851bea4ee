/// The error of a call that would wait for itself forever: a call of `run` or `drain` of a queue from inside a turn of the
/// same queue, or a call of ``SingleFlight`` or ``withSingleFlight(key:operation:)`` that asks for a key from inside the
/// operation of the same key.
///
/// The error is also thrown if turns of queues and flights (runs of operations that the callers of a key share) would wait
/// for each other, whatever their objects: the call that would complete the circle throws. If that is a call inside a
/// flight, the operation of the flight fails, and with it all of the circle, so the keys can be used again. Code counts as
/// inside a turn or a flight if it runs in its task, in a child task, or in a new `Task` that was created inside, also by
/// `addTask` of another queue, while the turn or the flight lasts. `CachedFlight` and `FleetFlight` of the other modules
/// throw the error in the same cases.
///
/// To fix the mistake, do the inner work directly in the present turn or operation. Otherwise, send it with `queue.addTask`
/// without awaiting that task inside the turn, or give it another key. Take the turns of several queues in the same order
/// everywhere.
public struct ReentrancyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the queue that was asked for a turn or to drain; `nil` if it has none, and for a flight.
    public let queueName: String?
    /// The text of the key for which a flight was requested: its description. `nil` for a queue.
    public let key: String?

    /// Creates the error of a queue, for a queue of your own or for tests.
    ///
    /// - Parameter queueName: The name of the queue; `nil` if it has none.
    public init(queueName: String?) {
        (self.queueName, key) = (queueName, nil)
    }

    /// Creates the error of a flight, for tests and for types of your own.
    ///
    /// - Parameter key: The text of the key for which the call has asked.
    public init(key: String) {
        (queueName, self.key) = (nil, key)
    }

    /// A sentence that names the queue or the key, and states what to do.
    public var description: String {
        if let key {
            return
                "The flight of the key \"\(key)\" was requested from inside itself, or by code that it waits for, and would wait for "
                + "itself forever. Do the work in the current flight, or give it another key."
        }
        return
            "\(queueName.map { "The queue \"\($0)\"" } ?? "A queue without a name") was asked for a turn, or to drain, from inside one "
            + "of its turns, or by code that its turns wait for, and would wait for itself forever. Do the work in the current turn, or send "
            + "it with queue.addTask and do not await it inside. Take the turns of several queues in the same order everywhere."
    }
}

extension ReentrancyError: ProgrammingMistake {}
