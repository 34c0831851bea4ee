/// The times of recent restarts, which determine whether a ``RestartLimit`` allows another restart.
struct RestartWindow {
    private let limit: RestartLimit
    /// The times of the restarts, the oldest first. At most as many as the limit allows per period.
    private(set) var times: [Duration] = []

    init(_ limit: RestartLimit) {
        self.limit = limit
    }

    /// Returns whether a restart at a time would exceed the limit.
    ///
    /// - Complexity: O(*n*) in the limit.
    func isFull(at time: Duration) -> Bool {
        guard let count = limit.count else { return false }
        return times.count { isRecent($0, at: time) } >= count
    }

    /// Records a restart at a time. The limit must allow the restart.
    mutating func record(at time: Duration) {
        guard limit.count != nil else { return }
        times = times.filter { isRecent($0, at: time) }
        times.append(time)
    }

    private func isRecent(_ restart: Duration, at time: Duration) -> Bool { time - restart < limit.period }
}
