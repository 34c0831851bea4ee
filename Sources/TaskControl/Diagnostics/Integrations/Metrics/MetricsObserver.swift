#if Metrics
public import CoreMetrics

/// Measures what happens in all primitives of this library, through swift-metrics.
///
/// ```swift
/// MetricsSystem.bootstrap(myBackend)
/// AsyncGuard.addObserver(MetricsObserver())
/// ```
///
/// How many tasks and calls there are and how many of them wait, how long they wait and run, how they end, joined flights, retries, HTTP
/// responses, and mistakes: `Documentation/Events.md` has a table of all names and dimensions. No dimension is a key, the name of a task or a
/// request: there are as many time series as there are kinds of things.
///
/// It counts what begins from now on. When its observation ends, what is still in flight is taken back: a meter goes down again.
///
/// - Complexity: O(1) an event, and memory for what is in flight, nothing else.
public final class MetricsObserver: TaskObserver {
    private let state: Locked<MetricsStateMachine>
    private let counters: Instruments<Counter>
    private let meters: Instruments<Meter>
    private let timers: Instruments<Timer>

    /// Makes an observer, for ``AsyncGuard/addObserver(_:)``.
    ///
    /// - Parameters:
    ///   - factory: What makes the metrics. By default, that of swift-metrics' system, as it is now: bootstrap that before.
    ///   - includesOwnerNames: Whether to tell owners apart by the names that they were given, as the dimension `owner`. For names of which
    ///     there are few. An ``AsyncTask`` has none there: it is bound when it has begun.
    public init(factory: any MetricsFactory = MetricsSystem.factory, includesOwnerNames: Bool = false) {
        state = Locked(MetricsStateMachine(hasOwnerNames: includesOwnerNames))
        counters = Instruments { Counter(label: $0, dimensions: $1, factory: factory) }
        meters = Instruments { Meter(label: $0, dimensions: $1, factory: factory) }
        timers = Instruments { Timer(label: $0, dimensions: $1, factory: factory) }
    }

    deinit {
        carryOut(state.withLock { $0.clear() })
    }

    /// Measures an event.
    public func receive(_ event: TaskEvent) {
        carryOut(state.withLock { $0.receive(event) })
    }

    /// How many subjects are in flight, as far as this one knows.
    var count: Int { state.withLock { $0.count } }

    /// Called without the lock (law 1), so perhaps in another order than the machine has said: up and down, and never a number, since the
    /// last of two numbers could be the older one.
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
