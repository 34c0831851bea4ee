/// What concerns all primitives of a process: what is told of them, and to whom.
public enum AsyncGuard {
    /// Says what diagnostics do, in place of what was said before. Nothing is observed by default, and that costs nothing.
    ///
    /// ```swift
    /// #if DEBUG
    /// AsyncGuard.configure(.init(debugLogging: true))
    /// #endif
    /// ```
    public static func configure(_ configuration: AsyncGuardConfiguration) {
        Observation.configure(configuration)
    }

    /// Adds an observer, which receives the events from now on: see ``TaskObserver``. There may be any number of observers.
    ///
    /// The library keeps the observer alive until ``TaskObservation/end()``.
    @discardableResult
    public static func addObserver(_ observer: some TaskObserver) -> TaskObservation {
        TaskObservation(number: Observation.add(observer))
    }

    /// The time that an event would have now, in terms of the configured clock; `nil` while nobody observes.
    public static var eventTime: Duration? { Diagnostics.whileObserved(Observation.current.time) }
}
