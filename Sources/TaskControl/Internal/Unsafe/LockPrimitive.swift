#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#elseif canImport(WinSDK)
internal import WinSDK
#elseif canImport(WASILibc)
internal import WASILibc
#endif

/// The lock of ``Locked``: the lock type of the C library. Must be used only at the address where it was initialized.
@usableFromInline
struct _LockPrimitive {
    #if canImport(Darwin)
    private typealias Primitive = os_unfair_lock
    #elseif canImport(WinSDK)
    private typealias Primitive = SRWLOCK
    #elseif canImport(WASILibc) && !_runtime(_multithreaded)
    /// Whether the lock is held. There is one thread.
    private typealias Primitive = Bool
    #else
    private typealias Primitive = pthread_mutex_t
    #endif

    private var primitive = Primitive()

    /// Returns the address of the C lock, which is the only property of the struct. (The operator `&` could pass the address of a copy.)
    @inline(__always)
    private static func primitive(_ lock: UnsafeMutablePointer<Self>) -> UnsafeMutablePointer<Primitive> {
        UnsafeMutableRawPointer(lock).assumingMemoryBound(to: Primitive.self)
    }

    @usableFromInline
    static func _initialize(_ lock: UnsafeMutablePointer<Self>) {
        lock.initialize(to: Self())
        #if canImport(Darwin) || canImport(WinSDK) || (canImport(WASILibc) && !_runtime(_multithreaded))
        // A lock of zeros is free.
        #else
        #if DEBUG
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ERRORCHECK))
        let status = pthread_mutex_init(primitive(lock), &attributes)
        pthread_mutexattr_destroy(&attributes)
        #elseif canImport(Glibc)
        // An adaptive mutex, as initialized by PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP: a thread spins for a short time
        // before it sleeps, because the code under these locks takes less time than sleeping and waking.
        primitive(lock).pointee.__data.__kind = CInt(PTHREAD_MUTEX_ADAPTIVE_NP)
        let status: CInt = 0
        #else
        let status = pthread_mutex_init(primitive(lock), nil)
        #endif
        precondition(status == 0, "TaskControl could not make a lock: pthread_mutex_init returned \(status).")
        #endif
    }

    static func destroy(_ lock: UnsafeMutablePointer<Self>) {
        #if canImport(Darwin) || canImport(WinSDK) || (canImport(WASILibc) && !_runtime(_multithreaded))
        // There is nothing to destroy.
        #else
        let status = pthread_mutex_destroy(primitive(lock))
        precondition(status == 0, "A lock was destroyed while it was held: pthread_mutex_destroy returned \(status).")
        #endif
        lock.deinitialize(count: 1)
    }

    @usableFromInline
    @inline(__always)
    static func _acquire(_ lock: UnsafeMutablePointer<Self>) {
        #if canImport(Darwin)
        os_unfair_lock_lock(primitive(lock))
        #elseif canImport(WinSDK)
        AcquireSRWLockExclusive(primitive(lock))
        #elseif canImport(WASILibc) && !_runtime(_multithreaded)
        precondition(!primitive(lock).pointee, "A lock was taken twice, by code that calls out while holding it.")
        primitive(lock).pointee = true
        #else
        let status = pthread_mutex_lock(primitive(lock))
        precondition(
            status == 0,
            "A lock was taken twice by one thread, which calls out while holding it: pthread_mutex_lock returned \(status)."
        )
        #endif
    }

    @usableFromInline
    @inline(__always)
    static func _release(_ lock: UnsafeMutablePointer<Self>) {
        #if canImport(Darwin)
        os_unfair_lock_unlock(primitive(lock))
        #elseif canImport(WinSDK)
        ReleaseSRWLockExclusive(primitive(lock))
        #elseif canImport(WASILibc) && !_runtime(_multithreaded)
        primitive(lock).pointee = false
        #else
        let status = pthread_mutex_unlock(primitive(lock))
        // Only the error-checking mutex of a debug build detects this.
        assert(status == 0, "A lock was released that was not held: pthread_mutex_unlock returned \(status).")
        #endif
    }
}
