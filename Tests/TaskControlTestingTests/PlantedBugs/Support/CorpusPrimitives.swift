import Foundation

// The primitives that the programs of the corpus are built from. They are correct, and none of them is this library's.

/// A value under a lock.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
}

/// A semaphore that serves its callers in the order of their arrival.
actor Permits {
    private(set) var free: Int
    private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(_ count: Int) {
        free = count
    }

    func acquire(_ count: Int = 1) async {
        if waiters.isEmpty, free >= count {
            free -= count
            return
        }
        await withCheckedContinuation { waiters.append((count, $0)) }
    }

    func release(_ count: Int = 1) {
        free += count
        while let first = waiters.first, first.count <= free {
            free -= first.count
            waiters.removeFirst().continuation.resume()
        }
    }
}

/// An event that happens once.
actor Signal {
    private(set) var isSet = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func set() {
        isSet = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func wait() async {
        if !isSet { await park() }
    }

    /// Waits for the next call of `set`, even if there was one before.
    func park() async {
        await withCheckedContinuation { waiters.append($0) }
    }
}

/// A place that counts accesses after it has been closed.
actor Resource {
    private(set) var isOpen: Bool
    private(set) var accessesWhileClosed = 0

    init(isOpen: Bool) {
        self.isOpen = isOpen
    }

    func open() { isOpen = true }

    func close() { isOpen = false }

    func access(isIgnoredIfClosed: Bool = false) {
        if !isOpen, !isIgnoredIfClosed { accessesWhileClosed += 1 }
    }
}

/// Values in the order of their arrival.
actor Journal<Value: Sendable> {
    private(set) var values: [Value] = []

    func append(_ value: Value) { values.append(value) }
}
