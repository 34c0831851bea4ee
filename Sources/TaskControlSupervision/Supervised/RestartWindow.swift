/// The restarts of the last period, which a ``RestartLimit`` allows or refuses. Pure.
struct RestartWindow {
    private let limit: RestartLimit
    /// When the restarts were made, in order. At most as many as the limit allows.
    private(set) var times: [Duration] = []

    init(_ limit: RestartLimit) {
        self.limit = limit
    }

    /// Returns whether a restart at a time would be one too many.
    ///
    /// - Complexity: O(*n*) in the limit.
    func isFull(at time: Duration) -> Bool {
        guard let count = limit.count else { return false }
        return times.count { isRecent($0, at: time) } >= count
    }

    /// Records a restart, which must be allowed.
    mutating func record(at time: Duration) {
        guard limit.count != nil else { return }
        times = times.filter { isRecent($0, at: time) }
        times.append(time)
    }

    private func isRecent(_ restart: Duration, at time: Duration) -> Bool { time - restart < limit.period }
}
