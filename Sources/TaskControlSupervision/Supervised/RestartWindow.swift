/// The times of the recent restarts of supervised work, which determine whether a ``RestartLimit`` allows another
/// restart.
struct RestartWindow {
    private let limit: RestartLimit
    /// The times of the restarts, measured from the beginning of the supervision, the oldest first. At most as many as
    /// the limit allows per period.
    private(set) var times: [Duration] = []

    init(_ limit: RestartLimit) {
        self.limit = limit
    }

    /// Returns whether the limit forbids a restart. Times are measured from the beginning of the supervision.
    ///
    /// - Parameters:
    ///   - time: The time of the restart.
    ///   - unrecordedCount: The number of further restarts that are not recorded.
    ///   - now: The time of these restarts.
    /// - Complexity: O(*n*) in the limit.
    func isFull(at time: Duration, after unrecordedCount: Int = 0, at now: Duration = .zero) -> Bool {
        guard let count = limit.count else { return false }
        let recentCount = times.count { isRecent($0, at: time) }
        return recentCount + (isRecent(now, at: time) ? unrecordedCount : 0) >= count
    }

    /// Records a restart at `time`, which is measured from the beginning of the supervision. The limit must allow the
    /// restart.
    mutating func record(at time: Duration) {
        guard limit.count != nil else { return }
        times = times.filter { isRecent($0, at: time) }
        times.append(time)
    }

    private func isRecent(_ restart: Duration, at time: Duration) -> Bool { time - restart < limit.period }
}
