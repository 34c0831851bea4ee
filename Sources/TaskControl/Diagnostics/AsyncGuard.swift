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
        Diagnostics.configure(configuration)
    }

    /// Tells an observer what happens from now on: see ``TaskObserver``. There may be any number of them.
    ///
    /// The library keeps it alive until ``TaskObservation/end()``.
    @discardableResult
    public static func addObserver(_ observer: some TaskObserver) -> TaskObservation {
        TaskObservation(number: Diagnostics.addObserver(observer))
    }
}
