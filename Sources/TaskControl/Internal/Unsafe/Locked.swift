/// State that is only ever touched under a lock, in one allocation with that lock. A copy is a reference to the same state.
///
/// The lock is the C library's, not `Synchronization.Mutex`: that one needs macOS 15 and iOS 18, takes three times as long
/// when it is free on Linux, and ThreadSanitizer reports false races inside it.
///
/// The call sites keep the rule that nothing is called out while holding a lock: the closure decides and returns what to do; its caller acts on
/// that once the lock is free. Objects that the state no longer needs are returned too, so that no `deinit` runs in here.
///
/// `withLock` is inlined in the other products as well, where its generic form takes as long as the lock.
@usableFromInline
package struct Locked<State>: @unchecked Sendable {
    // Sendable: the state is reached through `withLock` alone, so one thread at a time touches it.
    @usableFromInline let storage: _Storage

    package init(_ state: sending State) {
        storage = _Storage.make(state)
    }

    /// Runs `body` with exclusive access to the state. Not reentrant; in debug builds a second entry from the same thread traps.
    @inlinable
    @inline(__always)
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        storage.withUnsafeMutablePointers { state, lock in
            _LockPrimitive._acquire(lock)
            defer { _LockPrimitive._release(lock) }
            return body(&state.pointee)
        }
    }

    /// Whether both are copies of one reference.
    package func isSame(as other: Self) -> Bool { storage === other.storage }

    /// State and lock tail-allocated together: a lock must keep its address, which a stored property does not promise.
    @usableFromInline
    final class _Storage: ManagedBuffer<State, _LockPrimitive> {
        static func make(_ state: State) -> _Storage {
            let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in state }, to: _Storage.self)
            storage.withUnsafeMutablePointerToElements(_LockPrimitive.initialize)
            return storage
        }

        deinit {
            // The state itself is destroyed by ManagedBuffer.
            withUnsafeMutablePointerToElements(_LockPrimitive.destroy)
        }
    }
}
