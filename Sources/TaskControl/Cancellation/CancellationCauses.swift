private import CTaskControl

/// A cause as ``CancellationCauses`` stores it. The text of a key is made only when the cause is read.
enum RecordedCause: Sendable {
    case known(CancellationCause)
    case superseded(_ErasedKey)
    /// The last caller of a flight has left; `atLimit`: since a deadline or a time limit has ended its wait.
    case lastCallerLeft(atLimit: Bool)

    var cause: CancellationCause {
        switch self {
        case .known(let cause): cause
        case .superseded(let key): .superseded(key: key.text)
        case .lastCallerLeft: .lastCallerLeft
        }
    }

    /// Whether a deadline or a time limit has caused the cancellation.
    var isLimit: Bool {
        switch self {
        case .known(.deadline), .lastCallerLeft(atLimit: true): true
        default: false
        }
    }

    /// The text of the cause in an event; `nil` if the cause is unknown.
    var eventText: String? { cause.eventText }
}

/// The causes of cancelled tasks that have not ended, by the addresses of the tasks.
///
/// They are stored here and not in the tasks or their owners, so that the end of a task that was not cancelled costs
/// only one load. An owner, queue or flight records the cause before it cancels the task, while it holds its own lock:
/// under that lock the task is known not to have ended. The task removes its record when it ends. Code that holds the
/// lock of a record calls nothing, takes no other lock, and releases no object.
package enum CancellationCauses {
    struct Record: Sendable, Keyed {
        let key: TaskAddress
        /// The cause; `nil` if this library has not cancelled the task.
        var cause: RecordedCause?
        /// The position of this cause in the order in which causes were recorded; the maximum while there is no cause.
        var order: UInt64 = .max
        /// Whether the cancellation has ended a wait for a permit or a token, of the task or of one of its children.
        var hasEndedWait = false
        /// Whether `retry` and `poll` make no further attempt in the task, because its owner is being shut down.
        var hasEndedAttempts = false
        /// The address of the parent task, for a child task that this library created; `nil` for other tasks.
        var parent: TaskAddress?
        var nextInBucket = Chain.none
    }

    private static let parts = (0..<Int(tc_recordParts)).map { _ in Locked(KeyTable<Record>()) }

    private static func part(of task: TaskAddress) -> Locked<KeyTable<Record>> {
        parts[Int(tc_recordPart(task.pointer))]
    }

    /// Records the cause of a cancellation that is about to follow, unless the task already has a cause. ``CancellationCause/unknown`` is not
    /// recorded.
    ///
    /// - Parameters:
    ///   - cause: The cause.
    ///   - task: The task, which must not have ended.
    ///   - isFirst: `true` if the caller knows that no other code has cancelled the task. Otherwise no cause is recorded for a task that is already
    ///     cancelled.
    static func record(_ cause: RecordedCause, for task: TaskAddress, isFirst: Bool = false) {
        if case .known(.unknown) = cause { return }
        part(of: task).withLock { records in
            let index = records.index(of: task)
            if let index, records[index].cause != nil { return }
            // Other code has cancelled the task before. Checked under the lock, so that a task that has read `unknown`
            // reads nothing else later.
            if !isFirst, task.pointer.map(tc_isCancelled) == true { return }
            if let index {
                records[index].cause = cause
                records[index].order = tc_nextNumber()
            } else {
                _ = records.insert(Record(key: task, cause: cause, order: tc_nextNumber()))
                tc_countRecord(task.pointer, true)
            }
        }
    }

    /// Records the cause of a cancellation that is about to follow, unless the task already has a cause.
    package static func record(_ cause: CancellationCause, for task: TaskAddress) { record(.known(cause), for: task) }

    /// Records that `retry` and `poll` make no further attempt in a task, and in the child tasks that this library has created for
    /// it. The task must not have ended.
    static func endAttempts(of task: TaskAddress) {
        part(of: task).withLock { records in
            if let index = records.index(of: task) {
                records[index].hasEndedAttempts = true
            } else {
                _ = records.insert(Record(key: task, hasEndedAttempts: true))
                tc_countRecord(task.pointer, true)
            }
        }
    }

    /// Returns whether the attempts of a task or of one of its parent tasks have ended. Called only after a failed attempt.
    static func hasEndedAttempts(_ task: TaskAddress) -> Bool {
        var next: TaskAddress? = task
        while let task = next, tc_mayHaveRecord(task.pointer) {
            let record = part(of: task).withLock { records in
                records.index(of: task).map { (records[$0].hasEndedAttempts, records[$0].parent) }
            }
            if record?.0 == true { return true }
            next = record?.1
        }
        return false
    }

    /// Records the parent of a child task that this library has created, so that the causes of the parent are also
    /// causes of the child. The parent must outlive the child, and the child must call `forget(_:)` when it ends.
    package static func link(_ child: TaskAddress, to parent: TaskAddress) {
        let stale = part(of: child).withLock { records in
            // The record of an earlier task that had this address.
            let stale = records.index(of: child).map { records.remove($0) }
            if stale == nil { tc_countRecord(child.pointer, true) }
            _ = records.insert(Record(key: child, parent: parent))
            return stale
        }
        // The record may have the last reference to a key, so it is released here, where the lock is free.
        withExtendedLifetime(stale) {}
    }

    /// Removes the record of a task that is about to end.
    @inline(__always)
    package static func forget(_ task: TaskAddress) {
        if tc_mayHaveRecord(task.pointer) { remove(task) }
    }

    @inline(never)
    private static func remove(_ task: TaskAddress) {
        let record = part(of: task).withLock { records in
            guard let index = records.index(of: task) else { return Record?.none }
            tc_countRecord(task.pointer, false)
            return records.remove(index)
        }
        // The record may have the last reference to a key, so it is released here, where the lock is free.
        withExtendedLifetime(record) {}
    }

    /// Returns the cause that was recorded first among those of a task and its parent tasks; `nil` if there is none.
    static func cause(of task: TaskAddress) -> RecordedCause? { first(of: task)?.cause }

    /// Whether a deadline or a time limit has caused the cancellation of the running task. Without a record of its cause, as
    /// in a task of `async let`: whether its deadline has passed.
    package static var isOfLimit: Bool {
        guard let cause = first(of: .running)?.cause else { return Deadline.current?.hasPassed ?? false }
        return cause.isLimit
    }

    /// Records that the cancellation of the running task has ended a wait for a permit or a token: its time was not that of
    /// a service. A circuit breaker asks for that.
    package static func recordEndOfWait() {
        var next: TaskAddress? = .running
        while let task = next {
            next = part(of: task).withLock { records in
                guard let index = records.index(of: task) else { return nil }
                records[index].hasEndedWait = true
                return records[index].parent
            }
        }
    }

    /// Whether the cancellation of the running task has ended a wait for a permit or a token; `nil` if it is not known,
    /// since the task has no record.
    package static var hasEndedWait: Bool? {
        let task = TaskAddress.running
        return part(of: task).withLock { records in records.index(of: task).map { records[$0].hasEndedWait } }
    }

    private static func first(of task: TaskAddress) -> Record? {
        var first: Record?
        var next: TaskAddress? = task
        // Each part is read under its lock, since the count alone may be out of date.
        while let task = next {
            let record = part(of: task).withLock { records in records.index(of: task).map { records[$0] } }
            if let record, record.cause != nil, record.order < first?.order ?? .max { first = record }
            next = record?.parent
        }
        return first
    }
}
