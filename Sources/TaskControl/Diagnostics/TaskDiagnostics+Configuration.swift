extension TaskDiagnostics {
    /// The settings of ``TaskDiagnostics``: the log, the removal of secrets from texts, and the clock.
    public struct Configuration: Sendable {
        /// Whether each event is written as a line: to `os.Logger` on Apple platforms, to standard error elsewhere.
        /// `false` by default. For swift-log, install a `LogObserver` of the product `TaskControlTelemetry`.
        ///
        /// A line begins with `[main]` if it was written on the main thread, and otherwise with `[background]`. On
        /// other platforms than Apple's, the main actor of a program with an async `main` does not run on the main
        /// thread, so its lines begin with `[background]` too.
        public var debugLogging: Bool

        /// The closure that removes secrets from texts: names of tasks and queues, keys, errors, requests. Called for
        /// each text before any log or observer receives it, on any thread, while the library holds no lock. `nil`:
        /// texts are shown as they are.
        public var redact: (@Sendable (String) -> String)?

        /// Whether mistakes in the program are written to the system's log, in debug and release builds: errors that no
        /// code receives, each ``AsyncTask`` that was released before it was bound, stored or detached, and continuations that
        /// were dropped or resumed twice. `true` by default.
        ///
        /// On Apple platforms each mistake is a line of `os.Logger` at the level *error*; on other platforms, a line of
        /// standard error. Texts of errors and names of tasks are passed to ``redact`` first; in the unified log of
        /// Apple platforms these texts are private data. If ``debugLogging`` is `true`, mistakes are lines of the debug
        /// log instead. Observers receive mistakes in any case.
        public var reportsMistakes: Bool

        /// The clock that measures the ``TaskEvent/time`` of events.
        public var clock: any Clock<Duration> {
            didSet { time = Self.time(of: clock) }
        }

        /// The time since `clock` was set; `nil` for the `ContinuousClock`, whose time is counted from the same moment in
        /// each configuration. Kept when other settings change, so that the times of events stay comparable.
        private(set) var time: (@Sendable () -> Duration)?

        private static func time(of clock: any Clock<Duration>) -> (@Sendable () -> Duration)? {
            func elapsed<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
                let origin = clock.now
                return { origin.duration(to: clock.now) }
            }
            return clock is ContinuousClock ? nil : elapsed(clock)
        }

        /// Creates a configuration. By default, only mistakes are logged.
        ///
        /// - Parameters:
        ///   - debugLogging: Whether each event is written as a line: see ``debugLogging``.
        ///   - redact: Removes secrets from texts: see ``redact``.
        ///   - reportsMistakes: Whether mistakes are written to the system's log: see ``reportsMistakes``.
        ///   - clock: The clock that measures the time of events.
        public init(
            debugLogging: Bool = false,
            redact: (@Sendable (String) -> String)? = nil,
            reportsMistakes: Bool = true,
            clock: any Clock<Duration> = ContinuousClock()
        ) {
            self.debugLogging = debugLogging
            self.redact = redact
            self.reportsMistakes = reportsMistakes
            self.clock = clock
            time = Self.time(of: clock)
        }
    }
}
