#if SQLite
internal import Foundation
internal import TaskControl

/// The rule for how long a call of a ``SQLiteStore`` waits while another process holds the lock of the file.
///
/// The deadline of a call is counted from the time of the call, and not from the time at which the store's queue begins it: a call that waits behind
/// others in the queue does not wait for several timeouts.
final class BusyWait: Sendable {
    private let timeout: Duration
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) -> Void
    /// The deadline of the call that the store's queue runs now, in the time that `now` returns.
    private let deadline = Locked(Duration.zero)

    /// Creates the rule for the waits of a store.
    ///
    /// - Parameters:
    ///   - timeout: The longest wait of a call. Clamped to the range from zero to an hour.
    ///   - now: Returns the current time.
    ///   - sleep: Blocks the thread for a duration.
    init(
        timeout: Duration,
        now: @escaping @Sendable () -> Duration = { continuousTime() },
        sleep: @escaping @Sendable (Duration) -> Void = {
            Thread.sleep(forTimeInterval: Double($0.wholeNanoseconds) / 1e9)
        }
    ) {
        self.timeout = min(max(.zero, timeout), .seconds(3_600))
        (self.now, self.sleep) = (now, sleep)
    }

    /// Returns the deadline of a call that is made now, in the time that `now` returns.
    func newDeadline() -> Duration { now() + timeout }

    /// Sets the deadline of the call that the store's queue begins to run, as returned by ``newDeadline()``.
    func begin(until deadline: Duration) { self.deadline.withLock { $0 = deadline } }

    /// Blocks the thread for a duration, whatever the deadline.
    func settle(_ duration: Duration) { if duration > .zero { sleep(duration) } }

    /// Blocks the thread before another attempt to acquire the lock: first for 1 ms, and for up to 50 ms in later attempts.
    ///
    /// - Parameter attempt: The number of earlier waits of the same call.
    /// - Returns: `true` if the call should try again; `false` if its deadline has been reached.
    func wait(attempt: Int) -> Bool {
        let remaining = deadline.withLock(\.self) - now()
        guard remaining > .zero else { return false }
        sleep(min(remaining, .milliseconds(1 << min(max(0, attempt), 6)), .milliseconds(50)))
        return true
    }
}
#endif
