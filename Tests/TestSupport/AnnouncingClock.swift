public import TaskControlTesting

/// The continuous clock, with a gate that opens when a task sleeps on it.
public struct AnnouncingClock: Clock {
    public let sleeps = Gate()

    public init() {}

    public var now: ContinuousClock.Instant { ContinuousClock.now }
    public var minimumResolution: Duration { .zero }

    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        sleeps.open()
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}
