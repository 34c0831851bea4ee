/// The diagnostics of this process: the observers that receive events of tasks, and the settings of the log.
///
/// By default there is no observer, and an event costs one atomic load. Mistakes, such as errors that no code receives,
/// are logged.
///
/// ```swift
/// TaskDiagnostics.update { $0.debugLogging = true }
///
/// let registration = TaskDiagnostics.observe(recorder)   // until the registration is released
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
    /// - Parameter change: Changes a copy of the current configuration. Called again if another thread has changed the
    ///   configuration in the meantime. Must not call this function.
    public static func update(_ change: (inout Configuration) -> Void) {
        while true {
            let former = Observation.current
            var configuration = former.configuration ?? Configuration()
            change(&configuration)
            if Observation.configure(configuration, replacing: former.version) { return }
        }
    }

    // MARK: Observers

    /// Adds an observer, until the returned registration is deallocated or its ``Registration/end()`` is called.
    ///
    /// Each event is passed to the observers one after the other, in the order in which the observers were added.
    public static func observe(_ observer: some TaskObserver) -> Registration {
        Registration(number: Observation.add(observer))
    }

    /// Adds an observer, unless it is `nil`, and returns a registration that also ends other work.
    ///
    /// - Parameters:
    ///   - observer: The observer; `nil` for none.
    ///   - onEnd: Called after the observer was removed, perhaps more than once, on any thread.
    /// - Note: Only with `@_spi(Observers) import TaskControl`.
    @_spi(Observers)
    public static func observe(
        _ observer: (any TaskObserver)?,
        onEnd: @escaping @Sendable () -> Void
    ) -> Registration {
        Registration(number: observer.map(Observation.add), onEnd: onEnd)
    }

    /// Adds an observer for as long as the process runs.
    public static func install(_ observer: some TaskObserver) { _ = Observation.add(observer) }

    /// Returns a sequence of the events from now on, for one loop. Events are collected until the sequence and its
    /// iterator are released.
    ///
    /// The loop must not call functions of this library for each event: the loop would also receive the events of these
    /// calls, and make new calls without end.
    ///
    /// - Parameter limit: The number of events that are kept while the loop is busy; less than 1 counts as 1. If more
    ///   events come, the oldest are dropped, and counted in ``Events/droppedCount``.
    public static func events(bufferingNewest limit: Int = 1_000) -> Events { Events(limit: limit) }

    /// The ``TaskEvent/time`` that an event would have now; `nil` while events are neither observed nor logged.
    ///
    /// - Note: Only with `@_spi(Observers) import TaskControl`.
    @_spi(Observers) public static var eventTime: Duration? { Diagnostics.whileObserved(Observation.current.time) }

    /// Returns a value that an observer keeps once per process: in a simulation, that of the simulated process.
    ///
    /// - Note: Only with `@_spi(Observers) import TaskControl`.
    /// - Parameters:
    ///   - owner: The type to which the value belongs.
    ///   - real: The value outside simulations.
    ///   - make: Makes the value of a simulated process when it is first asked for.
    @_spi(Observers)
    public static func processValue<Value: Sendable>(
        of owner: Any.Type,
        _ real: @autoclosure () -> Value,
        make: () -> Value
    ) -> Value {
        ProcessValues.value(of: owner, real(), make: make)
    }
}
