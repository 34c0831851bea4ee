/// Another name of ``TaskDiagnostics``.
///
/// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
public typealias AsyncGuard = TaskDiagnostics

/// Another name of ``TaskDiagnostics/Configuration``.
///
/// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
public typealias AsyncGuardConfiguration = TaskDiagnostics.Configuration

extension TaskDiagnostics {
    /// Replaces the configuration. Code that must keep the settings of other code calls ``update(_:)`` instead.
    ///
    /// ```swift
    /// TaskDiagnostics.configure(.init(debugLogging: true))
    /// ```
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    public static func configure(_ configuration: Configuration) { update { $0 = configuration } }
}

/// The registry of the operations of ``withSingleFlight(key:operation:)`` that are in progress. It counts them, for
/// tests and debugging.
///
/// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
public final class SingleFlightRegistry: Sendable {
    /// The registry of this process.
    public static let shared = SingleFlightRegistry()

    private init() {}

    /// Returns the number of operations of ``withSingleFlight(key:operation:)`` that are in progress, each counted once
    /// for all of its callers. Excludes cancelled operations. The number may have changed by the time the caller uses
    /// it.
    public func inFlightCount() -> Int { _SharedFlights.table.count }
}

extension Task {
    /// Adds a handle of the task to the set. When the set releases the handle, a task that has not ended is cancelled.
    ///
    /// The handle of a finished task stays in the set. For many short tasks, use ``bind(to:)`` instead: a lifetime
    /// removes its finished tasks.
    ///
    /// - Note: A spelling of AsyncGuardKit: see <doc:MovingFromAsyncGuardKit>.
    @discardableResult
    public func store(in set: inout Set<AnyCancellable>) -> Self {
        set.insert(AnyCancellable { cancel() })
        return self
    }
}

extension AsyncTask: Cancellable {}
