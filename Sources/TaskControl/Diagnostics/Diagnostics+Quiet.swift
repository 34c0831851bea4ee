extension Diagnostics {
    /// Stops writing mistakes to the system's log for the rest of the process. For tests, which make mistakes on purpose.
    package static func keepQuiet() { Observation.keepQuiet() }
}
