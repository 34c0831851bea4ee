import HeapCounter

/// Resumes one waiter when a number of tasks have counted down: the cheapest way to wait for them that counts the same on both sides
/// of a comparison.
final class Countdown: @unchecked Sendable {
    private let remaining: UnsafeMutablePointer<Int>
    /// The waiter: written before the waiter counts down for itself, and read after the last task has counted down.
    private var waiter: UnsafeContinuation<Void, Never>?

    /// Creates a countdown.
    ///
    /// - Parameter count: The number of tasks that will count down, without the waiter.
    init(_ count: Int) {
        remaining = .allocate(capacity: 1)
        remaining.initialize(to: count + 1)
    }

    deinit {
        remaining.deallocate()
    }

    func hit() {
        if heap_counter_decrement(remaining) == 0 { waiter?.resume() }
    }

    func wait() async {
        await withUnsafeContinuation {
            waiter = $0
            hit()
        }
    }
}
