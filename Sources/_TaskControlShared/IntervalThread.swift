internal import Dispatch
internal import TaskControl

/// A thread that belongs to no pool and calls a closure once per interval, so it also runs while all threads of the
/// pools are blocked.
public final class IntervalThread: Sendable {
    private let end = DispatchSemaphore(value: 0)

    /// Creates a thread that has not started.
    public init() {}

    /// Starts the thread. Must be called once.
    ///
    /// - Parameters:
    ///   - interval: The time from the end of a call of `body` to the next call, rounded up to milliseconds.
    ///   - body: Called at once, and then once per interval. Its argument is the time since the end of the previous
    ///     call: longer than the interval if the process was stopped or the system was asleep, and zero in the first
    ///     call.
    /// - Returns: Whether the thread was started. `false` in a simulation, which has one thread, and if the system has
    ///   no thread left.
    public func start(every interval: Duration, _ body: @escaping @Sendable (Duration) -> Void) -> Bool {
        // In milliseconds: on watches, an `Int` has 32 bits.
        let milliseconds = Int(clamping: (interval.saturated.nanoseconds + 999_999) / 1_000_000)
        return startThread { [end] in
            var elapsed = Duration.zero
            while true {
                body(elapsed)
                let previous = continuousTime()
                if end.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return }
                elapsed = continuousTime() - previous
            }
        }
    }

    /// Ends the thread, after the current call of the closure. Can be called more than once.
    public func stop() { end.signal() }
}
