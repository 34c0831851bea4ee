#if Metrics
public import CoreMetrics
public import TaskControl
internal import TaskControlSupport

/// Measures the events of all primitives through swift-metrics.
///
/// ```swift
/// MetricsSystem.bootstrap(myBackend)
/// TaskDiagnostics.install(MetricsObserver())
/// ```
///
/// The observer measures how many tasks and calls exist and how many of them wait, how long they wait and run, how they end, joined flights, retries,
/// HTTP responses, and mistakes: `Documentation/Events.md` has a table of all names and dimensions. No dimension is a key, the name of a task
/// or a request, so the number of time series is bounded.
///
/// Tasks and calls that began before the observer was added are not counted. When the observer is deallocated after its observation, the meters are
/// lowered by the tasks and calls that have not ended.
///
/// - Complexity: O(1) per event, and memory only for the tasks and calls that have not ended.
public final class MetricsObserver: TaskObserver {
    private let state: Guarded<MetricsStateMachine>
    private let counters: Instruments<Counter>
    private let meters: Instruments<Meter>
    private let timers: Instruments<Timer>

    /// Creates an observer, for `TaskDiagnostics.observe(_:)`.
    ///
    /// - Parameters:
    ///   - factory: Creates the metrics. By default the current factory of `MetricsSystem`: bootstrap the system first.
    ///   - includesOwnerNames: Whether the dimension `owner` distinguishes owners by their names, of which there should be few. An `AsyncTask` has no
    ///     owner name, since it is bound to its owner after it has begun.
    public init(factory: any MetricsFactory = MetricsSystem.factory, includesOwnerNames: Bool = false) {
        state = Guarded(MetricsStateMachine(hasOwnerNames: includesOwnerNames))
        counters = Instruments { Counter(label: $0, dimensions: $1, factory: factory) }
        meters = Instruments { Meter(label: $0, dimensions: $1, factory: factory) }
        timers = Instruments { Timer(label: $0, dimensions: $1, factory: factory) }
    }

    deinit {
        carryOut(state.withLock { $0.clear() })
    }

    /// Measures an event. Called by the library.
    public func receive(_ event: TaskEvent) {
        carryOut(state.withLock { $0.receive(event) })
    }

    /// The number of subjects in flight, as far as the observer knows.
    var count: Int { state.withLock { $0.count } }

    /// Called without holding the lock, so perhaps in another order than the machine decided: meters are raised and lowered and never set,
    /// since the last of two values could be the older one.
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
