/// A clock with the name and the generic parameter of the one in swift-clocks.
public final class TestClock<Duration: DurationProtocol & Hashable>: Clock, Sendable {
    /// An instant of this clock.
    public struct Instant: InstantProtocol {
        private let offset: Duration

        /// Creates an instant.
        ///
        /// - Parameter offset: The duration since the first instant.
        public init(offset: Duration = .zero) { self.offset = offset }

        /// The instant that is later by a duration.
        public func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }

        /// The duration until another instant.
        public func duration(to other: Self) -> Duration { other.offset - offset }

        /// Whether an instant is earlier than another.
        public static func < (first: Self, second: Self) -> Bool { first.offset < second.offset }
    }

    /// The first instant: this clock stands still.
    public let now: Instant

    /// Creates a clock.
    ///
    /// - Parameter now: The instant of the clock.
    public init(now: Instant = Instant()) { self.now = now }

    /// Zero.
    public var minimumResolution: Duration { .zero }

    /// Returns at once.
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}
