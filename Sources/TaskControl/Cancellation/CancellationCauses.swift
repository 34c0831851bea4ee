private import CTaskControl

/// A cause as it is recorded. The text of a key calls foreign code, so it is made when the cause is read.
enum RecordedCause: Sendable {
    case known(CancellationCause)
    case superseded(_ErasedKey)

    var cause: CancellationCause {
        switch self {
        case .known(let cause): cause
        case .superseded(let key): .superseded(key: key.text)
        }
    }

    /// The cause in an event; `nil`: unknown.
    var eventText: String? { cause.eventText }
}

/// The causes of the cancelled tasks that live, by the addresses of the tasks.
///
/// Not in the tasks or in their owners' books, so that a task that is not cancelled pays one load for it. An engine records a cause while it holds
/// the lock under which it knows that the task has its end before it, and before it cancels the task; the task forgets its cause at its end. The
/// lock here is the innermost: nothing is called or released while it is held.
package enum CancellationCauses {
    struct Record: Sendable, Keyed {
        let key: TaskAddress
        /// `nil`: not cancelled by this library.
        var cause: RecordedCause?
        /// Causes are numbered in the order in which they are recorded.
        var order: UInt64 = .max
        /// The caller, of a child task of this library.
        var parent: TaskAddress?
        var nextInBucket = Chain.none
    }

    private static let parts = (0..<Int(tc_recordParts)).map { _ in Locked(KeyTable<Record>()) }

    private static func part(of task: TaskAddress) -> Locked<KeyTable<Record>> {
        parts[Int(tc_recordPart(task.pointer))]
    }

    /// Records the cause of a cancellation that follows, unless there is one. That a cause is unknown is not recorded.
    ///
    /// - Parameter isFirst: Whether no other code has cancelled the task, though it may be cancelled already.
    static func record(_ cause: RecordedCause, for task: TaskAddress, isFirst: Bool = false) {
        if case .known(.unknown) = cause { return }
        part(of: task).withLock { records in
            let index = records.index(of: task)
            if let index, records[index].cause != nil { return }
            // Other code has cancelled it before. That is looked at under the lock, so that a task that has read `unknown` reads nothing else later.
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

    /// Records the cause of a cancellation that follows, unless there is one.
    package static func record(_ cause: CancellationCause, for task: TaskAddress) { record(.known(cause), for: task) }

    /// Begins a child task of this library: it has the causes of its parent, which outlives it. The child forgets that at its end.
    package static func link(_ child: TaskAddress, to parent: TaskAddress) {
        let stale = part(of: child).withLock { records in
            // Of a task that had this address.
            let stale = records.index(of: child).map { records.remove($0) }
            if stale == nil { tc_countRecord(child.pointer, true) }
            _ = records.insert(Record(key: child, parent: parent))
            return stale
        }
        // Perhaps the last reference to a key: released here, where the lock is free.
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
        // Perhaps the last reference to a key: released here, where the lock is free.
        withExtendedLifetime(record) {}
    }

    /// The first cause of a task and of those that it is a child task of.
    static func cause(of task: TaskAddress) -> RecordedCause? {
        var first: Record?
        var next: TaskAddress? = task
        // Each part is looked at under its lock, since the count alone may be out of date.
        while let task = next {
            let record = part(of: task).withLock { records in records.index(of: task).map { records[$0] } }
            if let record, record.cause != nil, record.order < first?.order ?? .max { first = record }
            next = record?.parent
        }
        return first?.cause
    }
}
