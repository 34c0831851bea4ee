public import TaskControlTesting

/// The continuous clock, with a gate that opens when a task sleeps on it.
public struct AnnouncingClock: Clock {
    /// Opens when a task sleeps.
    public let sleeps = Gate()

    /// Creates a clock on which nothing has slept.
    public init() {}

    /// The time of the continuous clock.
    public var now: ContinuousClock.Instant { ContinuousClock.now }
    /// Zero.
    public var minimumResolution: Duration { .zero }

    /// Opens the gate and sleeps.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        sleeps.open()
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}
