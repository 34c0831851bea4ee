#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#else
#error("TaskControl needs os_unfair_lock or a pthread mutex; this platform's C library is not known to it.")
#endif

/// State that is only ever touched under a lock, in one allocation with that lock. A copy is a reference to the same state.
///
/// The lock is the C library's, not `Synchronization.Mutex`: that one needs macOS 15 and iOS 18, takes three times as long
/// when it is free on Linux, and ThreadSanitizer reports false races inside it.
///
/// The call sites keep the rule that nothing is called out while holding a lock: the closure decides and returns what to do; its caller acts on that once the lock is free.
/// Objects that the state lets go are returned too, so that nobody's `deinit` runs in here.
package struct Locked<State>: @unchecked Sendable {
    // Sendable: the state is reached through `withLock` alone, so one thread at a time touches it.
    private let storage: Storage

    package init(_ state: sending State) {
        storage = Storage.make(state)
    }

    /// Runs `body` with exclusive access to the state. Not reentrant; in debug builds a second entry from the same thread traps.
    @inline(__always)
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        storage.withUnsafeMutablePointers { state, lock in
            LockPrimitive.acquire(lock)
            defer { LockPrimitive.release(lock) }
            return body(&state.pointee)
        }
    }

    /// Whether both are copies of one reference.
    package func isSame(as other: Self) -> Bool { storage === other.storage }

    /// State and lock tail-allocated together: a lock must keep its address, which a stored property does not promise.
    private final class Storage: ManagedBuffer<State, LockPrimitive> {
        static func make(_ state: State) -> Storage {
            let storage = unsafeDowncast(create(minimumCapacity: 1) { _ in state }, to: Storage.self)
            storage.withUnsafeMutablePointerToElements(LockPrimitive.initialize)
            return storage
        }

        deinit {
            // The state itself is destroyed by ManagedBuffer.
            withUnsafeMutablePointerToElements(LockPrimitive.destroy)
        }
    }
}

#if canImport(Darwin)
private typealias LockPrimitive = os_unfair_lock

extension os_unfair_lock {
    fileprivate static func initialize(_ lock: UnsafeMutablePointer<Self>) {
        lock.initialize(to: os_unfair_lock())
    }

    fileprivate static func destroy(_ lock: UnsafeMutablePointer<Self>) {
        lock.deinitialize(count: 1)
    }

    @inline(__always)
    fileprivate static func acquire(_ lock: UnsafeMutablePointer<Self>) {
        os_unfair_lock_lock(lock)
    }

    @inline(__always)
    fileprivate static func release(_ lock: UnsafeMutablePointer<Self>) {
        os_unfair_lock_unlock(lock)
    }
}
#else
private typealias LockPrimitive = pthread_mutex_t

extension pthread_mutex_t {
    fileprivate static func initialize(_ lock: UnsafeMutablePointer<Self>) {
        #if DEBUG
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
        let status = pthread_mutex_init(lock, &attributes)
        pthread_mutexattr_destroy(&attributes)
        #elseif canImport(Glibc)
        // What is done under these locks is shorter than going to sleep: spin a little first. As PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP.
        lock.initialize(to: pthread_mutex_t())
        lock.pointee.__data.__kind = CInt(PTHREAD_MUTEX_ADAPTIVE_NP)
        let status: CInt = 0
        #else
        let status = pthread_mutex_init(lock, nil)
        #endif
        precondition(status == 0, "TaskControl could not make a lock: pthread_mutex_init returned \(status).")
    }

    fileprivate static func destroy(_ lock: UnsafeMutablePointer<Self>) {
        let status = pthread_mutex_destroy(lock)
        precondition(status == 0, "A lock was destroyed while it was held: pthread_mutex_destroy returned \(status).")
    }

    @inline(__always)
    fileprivate static func acquire(_ lock: UnsafeMutablePointer<Self>) {
        let status = pthread_mutex_lock(lock)
        precondition(
            status == 0,
            "A lock was taken twice by one thread, which calls out while holding it: pthread_mutex_lock returned \(status)."
        )
    }

    @inline(__always)
    fileprivate static func release(_ lock: UnsafeMutablePointer<Self>) {
        let status = pthread_mutex_unlock(lock)
        precondition(status == 0, "A lock was released that was not held: pthread_mutex_unlock returned \(status).")
    }
}
#endif
