/// The registered observers and the configuration of diagnostics. Immutable, so that the delivery of an event needs the
/// lock only to copy one reference.
final class Observation: Sendable {
    struct Observer: Sendable {
        let number = Diagnostics.nextNumber()
        let observer: any TaskObserver
        /// The simulation in which the observer was registered, whose events it receives, and no others; `nil` for an
        /// observer that receives all events.
        let simulation = ProcessValues.simulation
    }

    let configuration: TaskDiagnostics.Configuration?
    /// The number of changes of the configuration so far.
    let version: Int
    private let log: Observer?
    private let added: [Observer]
    private let isQuiet: Bool
    /// The observers in the order in which they are called; the debug log, if it is enabled, comes first.
    let observers: [Observer]

    init(
        _ configuration: TaskDiagnostics.Configuration? = nil,
        version: Int = 0,
        log: Observer? = nil,
        added: [Observer] = [],
        isQuiet: Bool = false
    ) {
        self.configuration = configuration
        self.version = version
        self.log = log
        self.added = added
        self.isQuiet = isQuiet
        observers = (log.map { [$0] } ?? []) + added
    }

    /// The instant of the first event.
    private static var origin: ContinuousClock.Instant {
        ProcessValues.value(of: Self.self, originOfProcess) { .now }
    }

    private static let originOfProcess = ContinuousClock.now

    /// The current time of the configured clock, as the ``TaskEvent/time`` of an event.
    var time: Duration {
        guard let configuredTime = configuration?.time else {
            let origin = Self.origin
            return ContinuousClock.now - origin
        }
        var time = Duration.zero
        ObserverCall.excludingEverybody.perform { time = configuredTime() }
        // Observers subtract times.
        return time.bounded
    }

    /// Whether mistakes in the program are written to the system's log. `false` if the configuration disables it, after
    /// `keepQuiet()`, or if the debug log is enabled, which contains the mistakes already.
    var writesMistakes: Bool { !isQuiet && log == nil && configuration?.reportsMistakes ?? true }

    private func with(added: [Observer]? = nil, isQuiet: Bool? = nil) -> Observation {
        Observation(
            configuration,
            version: version,
            log: log,
            added: added ?? self.added,
            isQuiet: isQuiet ?? self.isQuiet
        )
    }
}

extension Observation {
    static var current: Observation { EventDelivery.current }

    /// Replaces the configuration, unless it was changed since it had the given ``version``.
    ///
    /// - Returns: Whether the configuration was replaced.
    static func configure(_ configuration: TaskDiagnostics.Configuration, replacing version: Int) -> Bool {
        let log = configuration.debugLogging ? Observer(observer: SystemLog()) : nil
        let former = EventDelivery.replace { current in
            guard current.version == version else { return current }
            return Observation(
                configuration,
                version: version + 1,
                // A log that is enabled stays the same observer, so it also receives the events of decisions before
                // this change.
                log: log.map { current.log ?? $0 },
                added: current.added,
                isQuiet: current.isQuiet
            )
        }
        return former.version == version
    }

    /// Adds an observer after those that are registered.
    ///
    /// - Returns: The number with which `remove(_:)` removes the observer.
    static func add(_ observer: any TaskObserver) -> UInt64 {
        let observer = Observer(observer: observer)
        EventDelivery.replace { $0.with(added: $0.added + [observer]) }
        return observer.number
    }

    static func remove(_ number: UInt64) {
        EventDelivery.replace { $0.with(added: $0.added.filter { $0.number != number }) }
    }

    /// Removes the observers that were registered in a simulation, which ends.
    static func removeAll(of simulation: ObjectIdentifier) {
        guard current.added.contains(where: { $0.simulation == simulation }) else { return }
        EventDelivery.replace { $0.with(added: $0.added.filter { $0.simulation != simulation }) }
    }

    /// Stops writing mistakes to the system's log. For tests, which make mistakes on purpose.
    static func keepQuiet() {
        EventDelivery.replace { $0.with(isQuiet: true) }
    }
}
