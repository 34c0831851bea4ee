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

    /// Returns whether the limit forbids a restart at `time`, which is measured from the beginning of the supervision.
    ///
    /// - Complexity: O(*n*) in the limit.
    func isFull(at time: Duration) -> Bool {
        guard let count = limit.count else { return false }
        return times.count { isRecent($0, at: time) } >= count
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
