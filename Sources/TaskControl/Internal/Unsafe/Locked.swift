/// State that is accessed only under a lock, in one allocation with that lock. A copy of this value refers to the same
/// state.
///
/// The lock is that of the C library, not `Synchronization.Mutex`: a `Mutex` needs macOS 15 and iOS 18, takes three times as long on Linux when it is
/// free, and makes ThreadSanitizer report false races.
///
/// Never call out while holding the lock: the closure of `withLock` decides and returns what to do, and its caller does that after the lock is
/// released. The closure also returns objects that the state no longer needs, so that no `deinit` runs under the lock.
///
/// Inlinable for the other products of this package: without inlining, the generic call of `withLock` takes as long as the lock itself.
@usableFromInline
package struct Locked<State>: @unchecked Sendable {
    // Sendable, because the state is accessed only in `withLock`, by one thread at a time.
    @usableFromInline let storage: _Storage

    @export(implementation)
    package init(_ state: sending State) {
        storage = _Storage.make(state)
    }

    /// Runs a closure with exclusive access to the state. Not reentrant: a nested call on the same thread traps on
    /// Apple platforms and in debug builds, and otherwise may wait forever.
    ///
    /// - Parameter body: Runs with the lock held. Must not call code of the client.
    /// - Returns: The result of `body`.
    @export(implementation)
    @inline(__always)
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        storage.withUnsafeMutablePointers { state, lock in
            _LockPrimitive._acquire(lock)
            defer { _LockPrimitive._release(lock) }
            return body(&state.pointee)
        }
    }

    /// Returns whether both values refer to the same state.
    package func isSame(as other: Self) -> Bool { storage === other.storage }

    /// The object that contains the state and the lock. The lock is tail-allocated, because it must keep its address, which a stored property does
    /// not guarantee.
    @usableFromInline
    final class _Storage: ManagedBuffer<State, _LockPrimitive> {
        @export(implementation)
        static func make(_ state: State) -> _Storage {
            let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in state }, to: _Storage.self)
            storage.withUnsafeMutablePointerToElements(_LockPrimitive._initialize)
            return storage
        }

        deinit {
            // The state itself is destroyed by ManagedBuffer.
            withUnsafeMutablePointerToElements(_LockPrimitive.destroy)
        }
    }
}
