#if canImport(Combine)
// Combine's own class and nothing else of Combine, so that a file that imports both modules has one type, and needs no import of Combine to
// create one. An import rather than a typealias: beside a typealias, `[AnyCancellable]()` is ambiguous in a file that imports both.
@_exported public import class Combine.AnyCancellable
#else
/// An object that calls a closure when it is cancelled or deallocated: Combine's `AnyCancellable`, for platforms without Combine.
///
/// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
///
/// On Apple's platforms, `AnyCancellable` is Combine's own class. `import TaskControl` is enough to use it.
///
/// An instance is equal to itself only. It is not Sendable, like Combine's: keep it, and the set that it is in, in the isolation that created it.
public final class AnyCancellable: Hashable {
    private let action: Locked<(@Sendable () -> Void)?>

    /// Creates a handle that cancels by calling a closure.
    ///
    /// - Parameter cancel: Called at most once: by ``cancel()``, or when the last reference is released.
    public init(_ cancel: @escaping () -> Void) {
        // This class is not Sendable, so the closure stays where it was made; the cast only lets it into the lock.
        action = Locked(calledOnce(cancel))
    }

    deinit {
        cancel()
    }

    /// Calls the closure that was passed to the initializer, unless it was called already.
    public func cancel() {
        // Taken under the lock, called without it.
        action.withLock { $0.take() }?()
    }

    /// Adds this handle to a set, which then retains it.
    public func store(in set: inout Set<AnyCancellable>) {
        set.insert(self)
    }

    /// Adds this handle to the end of a collection, which then retains it.
    public func store<Cancellables: RangeReplaceableCollection>(
        in collection: inout Cancellables
    ) where Cancellables.Element == AnyCancellable {
        collection.append(self)
    }

    /// Returns whether both handles are the same instance.
    public static func == (one: AnyCancellable, other: AnyCancellable) -> Bool { one === other }

    /// Hashes the identity of this instance.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
#endif

extension Set<AnyCancellable> {
    /// Cancels every handle in the set, and empties the set.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    ///
    /// ## Cancellation
    /// Cancellation handlers run before this function returns, in no particular order. A handler must not access *this*
    /// set: the call has exclusive access to the set, so the access traps, as for any value that is accessed while it
    /// is being changed. If a handler must access the set, move the handles out of the set first:
    ///
    /// ```swift
    /// let all = cancellables
    /// cancellables = []
    /// for cancellable in all { cancellable.cancel() }
    /// ```
    ///
    /// - Complexity: O(*n*) in the number of handles.
    public mutating func cancelAll() {
        let all = self
        self = []
        for cancellable in all { cancellable.cancel() }
    }
}

// `store(in:)` is here, beside the import of the class that it uses.
extension AsyncTask {
    /// Adds a handle of the task to the set. When the set releases the handle, a task that has not ended is cancelled.
    /// A task that is bound to a lifetime stays bound.
    ///
    /// A later call of ``detached()`` does not remove the handle, which still cancels the task. The handle of a
    /// finished task stays in the set. For many short tasks, use ``bind(to:)`` instead: a lifetime removes its finished
    /// tasks.
    @discardableResult
    public func store(in set: inout Set<AnyCancellable>) -> Self {
        _ = decide { $0.change { $0.decide() } }
        set.insert(
            AnyCancellable { [task, life] in
                if Diagnostics.whileObserved(life.withLock { $0.machine.isFinished }) == false {
                    Self.cancel(task, life, because: .requested(reason: nil))
                } else {
                    Self.record(.requested(reason: nil), of: task, life)
                    task.cancel()
                }
            }
        )
        Self.emit(.stored, of: life)
        return self
    }
}

// This module's `Cancellable`, not Combine's protocol of the same name, which is not imported here.
extension AnyCancellable: Cancellable {}
