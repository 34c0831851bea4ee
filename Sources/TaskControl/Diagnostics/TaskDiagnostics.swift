/// The diagnostics of this process: which code observes tasks, and what is logged.
///
/// By default nothing is observed, and an event costs one atomic load. Mistakes, such as errors that no code receives, are logged.
///
/// ```swift
/// TaskDiagnostics.update { $0.debugLogging = true }
///
/// let observation = TaskDiagnostics.observe(recorder)    // until the observation is released
/// TaskDiagnostics.install(MetricsObserver())             // as long as the process runs
///
/// for await event in TaskDiagnostics.events() where event.severity == .warning { print(event) }
/// ```
public enum TaskDiagnostics {
    // MARK: Configuration

    /// The current configuration.
    public static var configuration: Configuration { Observation.current.configuration ?? Configuration() }

    /// Changes the configuration. Settings that the closure does not change stay as they are.
    ///
    /// - Parameter change: Changes a copy. Called again if another thread has changed the configuration in the meantime.
    public static func update(_ change: (inout Configuration) -> Void) {
        while true {
            let former = Observation.current
            var configuration = former.configuration ?? Configuration()
            change(&configuration)
            if Observation.configure(configuration, replacing: former) { return }
        }
    }

    /// Replaces the configuration. Code that must keep the settings of other code calls ``update(_:)`` instead.
    ///
    /// ```swift
    /// TaskDiagnostics.configure(.init(debugLogging: true))
    /// ```
    public static func configure(_ configuration: Configuration) { update { $0 = configuration } }

    // MARK: Observers

    /// Adds an observer until the returned observation ends: when it is released, or with ``TaskObservation/end()``.
    ///
    /// Observers receive each event in the order in which they were added.
    public static func observe(_ observer: some TaskObserver) -> TaskObservation {
        TaskObservation(number: Observation.add(observer))
    }

    /// Adds an observer for as long as the process runs.
    public static func install(_ observer: some TaskObserver) { _ = Observation.add(observer) }

    /// Returns a sequence of the events from now on, for one loop. The observation ends when the sequence and its iterator are released.
    ///
    /// The loop must not call this library for each event that it receives: it would receive its own events, and never end.
    ///
    /// - Parameter limit: The number of events that are kept while the loop is busy. The oldest are dropped then, and counted in
    ///   ``TaskEvents/droppedCount``.
    public static func events(bufferingNewest limit: Int = 1_000) -> TaskEvents { TaskEvents(limit: limit) }

    /// The time that an event would have now, in terms of the configured clock; `nil` while events are neither observed nor logged.
    public static var eventTime: Duration? { Diagnostics.whileObserved(Observation.current.time) }
}

/// The name of ``TaskDiagnostics`` in AsyncGuardKit.
public typealias AsyncGuard = TaskDiagnostics

/// The name of ``TaskDiagnostics/Configuration`` in AsyncGuardKit.
public typealias AsyncGuardConfiguration = TaskDiagnostics.Configuration
