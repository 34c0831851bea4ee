package import Testing

/// The properties by which `scripts/tests tagged` selects tests for a gate.
extension Tag {
    /// A test of a state machine, or of another pure value, on one thread.
    @Tag package static var machine: Self

    /// A test of a simulation, or a test that runs a program under many schedules.
    ///
    /// `scripts/tests schedules` runs these tests in an optimized build, where ``Schedules`` has its full size.
    @Tag package static var schedules: Self

    /// A test without a simulation that has its full size only in an optimized build. `scripts/tests schedules` runs it there.
    @Tag package static var large: Self

    /// A test that ThreadSanitizer breaks or makes meaningless, such as a measurement of memory or a crash by an invalid access.
    @Tag package static var unsanitized: Self
}
