#if canImport(Combine)
public import Combine

/// Combine's own type, so that a file that imports both has one name and one set.
///
/// Its members are Combine's: with `MemberImportVisibility`, a file that creates one, or calls `cancel()` or `store(in:)` of one, imports
/// Combine too. ``AsyncTask/store(in:)`` and `Set.cancelAll()` are of this module, and need no more than it.
public typealias AnyCancellable = Combine.AnyCancellable
#else
/// Something to cancel, that is cancelled when it is let go of: as in Combine, for platforms that have no Combine.
///
/// Where there is Combine, this name stands for its type, whose members are Combine's: with `MemberImportVisibility`, a file that creates
/// one, or calls `cancel()` or `store(in:)` of one, imports Combine there. ``AsyncTask/store(in:)`` and `Set.cancelAll()` are of this module.
///
/// Equal to itself only. Not Sendable, as the original: keep it, and the set it is in, where it was made.
public final class AnyCancellable: Hashable {
    private let action: Locked<(@Sendable () -> Void)?>

    /// What cancels by calling a closure.
    ///
    /// - Parameter cancel: Called at most once: by ``cancel()``, or when the last reference goes.
    public init(_ cancel: @escaping () -> Void) {
        // This class is not Sendable, so the closure stays where it was made; the cast only lets it into the lock.
        action = Locked(unsafeBitCast(cancel, to: (@Sendable () -> Void).self))
    }

    deinit {
        cancel()
    }

    /// Cancels, unless that has happened already.
    public func cancel() {
        // Taken under the lock, called without it.
        action.withLock { $0.take() }?()
    }

    /// Adds this to a set, which then keeps it alive.
    public func store(in set: inout Set<AnyCancellable>) {
        set.insert(self)
    }

    /// Adds this to the end of a collection, which then keeps it alive.
    public func store<Cancellables: RangeReplaceableCollection>(
        in collection: inout Cancellables
    ) where Cancellables.Element == AnyCancellable {
        collection.append(self)
    }

    /// Whether both are one and the same.
    public static func == (one: AnyCancellable, other: AnyCancellable) -> Bool { one === other }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
#endif

extension Set<AnyCancellable> {
    /// Cancels everything in the set, and empties it.
    ///
    /// ## Cancellation
    /// Cancellation handlers run before this returns, and in no particular order. None of them may touch *this* set: the call has exclusive
    /// access to it, so Swift stops the program, as for any value that is accessed while it is being changed. Where a handler must, let the
    /// access end first:
    ///
    /// ```swift
    /// let all = cancellables
    /// cancellables = []
    /// for cancellable in all { cancellable.cancel() }
    /// ```
    ///
    /// - Complexity: O(*n*).
    public mutating func cancelAll() {
        let all = self
        self = []
        for cancellable in all { cancellable.cancel() }
    }
}

// Here, and not with its siblings, so that this is the only file that knows of Combine.
extension AsyncTask {
    /// Adds a handle to the set, which cancels the task when the set lets go of it. A lifetime that the task is bound to keeps it too.
    ///
    /// Nothing takes the handle out again: the set keeps it when the task has finished, and cancels also a task that was ``detached()``
    /// since. Where many tasks come and go, ``bind(to:)`` keeps nothing.
    @discardableResult
    public func store(in set: inout Set<AnyCancellable>) -> Self {
        _ = decide { $0.decide() }
        if Diagnostics.isOn { Self.tell(.stored, .goesOn, life) }
        set.insert(
            AnyCancellable { [task, life] in
                if Diagnostics.isOn, !life.withLock({ $0.isFinished }) { Self.tellCancelled(task, life) }
                task.cancel()
            }
        )
        return self
    }
}

// Combine's protocol of the name of `Cancellable` is not meant: this module's own goes before what is imported.
extension AnyCancellable: Cancellable {}
