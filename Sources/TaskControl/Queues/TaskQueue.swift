/// A queue that runs each operation in the isolation of the code that adds it: ``FIFOQueue``, ``ConcurrentQueue``, or a
/// ``CancellableQueue`` over one of them.
///
/// Use the protocol for functions that accept any of these queues. Do not call its requirements, and do not conform
/// your own types to it: both are reserved for the queues of this library. The requirements are static, so that completion
/// does not offer them for a queue.
public protocol TaskQueue: Sendable {
    /// Returns the raw value of the priority of tasks that are added without a priority; 0 if they have the priority of
    /// their caller.
    static func _level(of queue: Self) -> UInt8

    /// Takes the last place in the queue for a task that is about to be created.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - level: The raw value of the task's priority; 0 for the priority of the caller.
    /// - Returns: The place.
    static func _turn(in queue: Self, level: UInt8) -> _Turn
}

extension TaskQueue {
    /// Returns the raw value of a task's priority. If `priority` is `nil`, returns that of the queue's priority; 0 if
    /// the queue has none either: the task then has the priority of its caller.
    @export(implementation)
    @inline(__always)
    func _level(of priority: consuming TaskPriority?) -> UInt8 { rawLevel(priority) ?? Self._level(of: self) }

    /// Takes the last place in the queue for a task that is about to be created.
    @export(implementation)
    @inline(__always)
    func _takeTurn(level: UInt8) -> _Turn { Self._turn(in: self, level: level) }
}
