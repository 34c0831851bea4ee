/// What diagnostics do.
public struct AsyncGuardConfiguration: Sendable {
    /// Whether each event is written as a line: to `os.Logger` on Apple platforms, to standard error elsewhere. For
    /// swift-log, add a `LogObserver` of the product `TaskControlLogging`.
    ///
    /// A line begins with `[main]` if it was written on the main thread. Outside Apple's platforms the main actor of a program with an async
    /// `main` does not run there, and its lines begin with `[background]` too.
    public var debugLogging: Bool

    /// Takes secrets out of text: of task names, names of queues, keys, errors, requests. Called for each before any log or observer sees it, with no
    /// lock held. `nil`: they are shown as they are.
    public var redact: (@Sendable (String) -> String)?

    /// Whether mistakes are written to the system's log, in debug and release builds: errors that nobody receives, tasks that were dropped
    /// without an owner, and continuations that were dropped or resumed twice. By default they are.
    ///
    /// On Apple platforms they go to `os.Logger` at the level *error*, elsewhere to standard error, one line each. Texts of errors and names
    /// of tasks are passed to ``redact`` first; in the unified log of Apple platforms they are private data. With ``debugLogging`` they
    /// are lines of that log instead. Observers receive mistakes in any case.
    public var reportsMistakes: Bool

    /// What the time of events is taken from.
    public var clock: any Clock<Duration>

    /// No lines, and nothing taken out, unless it says so.
    ///
    /// - Parameters:
    ///   - debugLogging: Whether each event is written as a line.
    ///   - redact: Takes secrets out of text.
    ///   - reportsMistakes: Whether mistakes are written to the system's log: see ``reportsMistakes``.
    ///   - clock: What the time of events is taken from.
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
    }
}
