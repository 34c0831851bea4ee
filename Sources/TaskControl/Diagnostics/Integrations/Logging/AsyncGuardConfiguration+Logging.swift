#if Logging
public import Logging

extension AsyncGuardConfiguration {
    /// What diagnostics do, with a log of one's own.
    ///
    /// ```swift
    /// AsyncGuard.configure(.init(logger: Logger(label: "orders.tasks")))
    /// ```
    ///
    /// - Parameters:
    ///   - logger: Where each event is logged, at the level `debug`, or `warning` if it is a mistake. What is below the logger's own level
    ///     is not: by swift-log's default that is all but the mistakes.
    ///   - tracking: Whether ``snapshot()`` has something to show.
    ///   - redact: Takes secrets out of text.
    ///   - clock: What the time of events is taken from.
    public init(
        logger: Logger,
        tracking: Bool = false,
        redact: (@Sendable (String) -> String)? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(debugLogging: true, tracking: tracking, redact: redact, clock: clock)
        self.logger = logger
    }

    /// Where there is no other: on, since it was asked for.
    static var standardLogger: Logger {
        var logger = Logger(label: "TaskControl")
        logger.logLevel = min(logger.logLevel, .debug)
        return logger
    }
}
#endif
