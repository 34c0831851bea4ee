#if Metrics
public import CoreMetrics
public import TaskControl
internal import _TaskControlShared

/// An observer that derives metrics from the diagnostic events of TaskControl and reports them with swift-metrics.
///
/// ```swift
/// MetricsSystem.bootstrap(myBackend)
/// TaskDiagnostics.install(MetricsObserver())
/// ```
///
/// The observer measures the number of tasks and calls that exist and that wait, how long they wait and run, how they
/// end, joined flights (callers that share the run of an operation), retries, HTTP responses, and probable mistakes in
/// the program: the article *Events* of `TaskControl` has a table of all names and dimensions. To keep the number of
/// time series small, no dimension contains a key, a request, or the name of a task.
///
/// Tasks and calls that began before the observer was added are not counted. When the observer is deallocated, it
/// lowers the metrics for existing and waiting tasks and calls by the number of those that have not ended.
///
/// - Complexity: O(1) per event. Memory is needed only for the tasks and calls that have not ended.
public final class MetricsObserver: TaskObserver {
    private let state: Guarded<MetricsStateMachine>
    private let counters: Instruments<Counter>
    private let meters: Instruments<Meter>
    private let timers: Instruments<Timer>

    /// Creates an observer. Pass it to `TaskDiagnostics.observe(_:)` or `TaskDiagnostics.install(_:)`.
    ///
    /// - Parameters:
    ///   - factory: The factory that creates the metrics. By default the current factory of `MetricsSystem`: call
    ///     `MetricsSystem.bootstrap` first.
    ///   - includesOwnerNames: Whether the metrics have a dimension `owner` with the name of the object to which the
    ///     task or call belongs, such as a `TaskStore`. Pass `true` only if the number of different names is small. For
    ///     an `AsyncTask` the name is empty, since the task is bound to its owner only after it has begun.
    public init(factory: any MetricsFactory = MetricsSystem.factory, includesOwnerNames: Bool = false) {
        state = Guarded(MetricsStateMachine(hasOwnerNames: includesOwnerNames))
        counters = Instruments { Counter(label: $0, dimensions: $1, factory: factory) }
        meters = Instruments { Meter(label: $0, dimensions: $1, factory: factory) }
        timers = Instruments { Timer(label: $0, dimensions: $1, factory: factory) }
    }

    deinit {
        carryOut(state.withLock { $0.clear() })
    }

    /// Updates the metrics for an event. Called by TaskControl.
    public func receive(_ event: TaskEvent) {
        carryOut(state.withLock { $0.receive(event) })
    }

    /// The number of tasks and calls that have begun and not ended, according to the observer.
    var count: Int { state.withLock { $0.count } }

    /// Applies measurements to the metrics.
    ///
    /// The lock is not held, so two threads can apply their measurements in another order than that in which the state
    /// machine returned them. For this reason meters are only raised and lowered, and never set: the value that is set
    /// last could be the older one.
    private func carryOut(_ measurements: [Measurement]) {
        for measurement in measurements {
            switch measurement {
            case .count(let name): counters[name].increment()
            case .raise(let name): meters[name].increment()
            case .lower(let name): meters[name].decrement()
            case .time(let name, let duration): timers[name].recordNanoseconds(duration.nanoseconds)
            }
        }
    }
}
#endif
