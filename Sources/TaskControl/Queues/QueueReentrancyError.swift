/// The error of a call of `run` or `drain` of a queue from inside a turn of the same queue: the caller could wait for
/// itself forever.
///
/// The error is also thrown if the turns of the queue wait for the caller, directly or through flights and other queues:
/// the call that would complete the circle throws. A task that is created inside a turn, also by `addTask` of another
/// queue, counts as inside while the turn lasts.
///
/// To fix the mistake, do the work in the present turn, or send the work with `queue.addTask`, without awaiting that task
/// inside the turn. Take the turns of several queues in the same order everywhere.
public struct QueueReentrancyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the queue; `nil` if it has none.
    public let queueName: String?

    /// Creates the error, for a queue of your own or for tests.
    ///
    /// - Parameter queueName: The name of the queue; `nil` if it has none.
    public init(queueName: String?) {
        self.queueName = queueName
    }

    /// A sentence that names the queue, and states what to do.
    public var description: String {
        "\(queueName.map { "The queue \"\($0)\"" } ?? "A queue without a name") was asked for a turn, or to drain, from inside one of "
            + "its turns, or by code that its turns wait for, and would wait for itself forever. Do the work in the current turn, or send it "
            + "with queue.addTask and do not await it inside. Take the turns of several queues in the same order everywhere."
    }
}

extension QueueReentrancyError: ProgrammingMistake {}
