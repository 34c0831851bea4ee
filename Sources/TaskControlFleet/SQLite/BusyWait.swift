#if SQLite
internal import Foundation
internal import TaskControl

/// How the calls of a ``SQLiteStore`` wait for other processes that have the lock of the file.
///
/// Each call has its own deadline, which counts from the call and not from its turn: calls that wait behind each other do not wait for a multiple of the
/// timeout.
final class BusyWait: Sendable {
    private let timeout: Duration
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) -> Void
    /// The deadline of the call that runs.
    private let deadline = Locked(Duration.zero)

    /// - Parameters:
    ///   - timeout: The longest wait of a call. From zero to an hour.
    ///   - now: Returns the time.
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

    /// Returns the deadline of a call that is made now.
    func newDeadline() -> Duration { now() + timeout }

    /// Begins the turn of a call.
    func begin(until deadline: Duration) { self.deadline.withLock { $0 = deadline } }

    /// Waits before another attempt to get the lock, first for a millisecond and later for up to 50 ms.
    ///
    /// - Parameter attempt: The number of waits before this one.
    /// - Returns: Whether to try again. If not, the deadline has been reached.
    func wait(attempt: Int) -> Bool {
        let remaining = deadline.withLock(\.self) - now()
        guard remaining > .zero else { return false }
        sleep(min(remaining, .milliseconds(1 << min(max(0, attempt), 6)), .milliseconds(50)))
        return true
    }
}
#endif
