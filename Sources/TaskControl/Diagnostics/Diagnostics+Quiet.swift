extension Diagnostics {
    /// Writes no mistakes to the system's log from now on. For tests, which make mistakes on purpose.
    package static func keepQuiet() { Observation.keepQuiet() }
}
