/// The observers and their configuration. Immutable, so that a reference is all that an event takes under the lock.
final class Observation: Sendable {
    struct Observer: Sendable {
        let number = Diagnostics.nextNumber()
        let observer: any TaskObserver
    }

    let configuration: TaskDiagnostics.Configuration?
    private let configuredTime: (@Sendable () -> Duration)?
    private let log: Observer?
    private let added: [Observer]
    private let isQuiet: Bool
    /// All of them in the order of their calls.
    let observers: [Observer]

    init(
        _ configuration: TaskDiagnostics.Configuration? = nil,
        configuredTime: (@Sendable () -> Duration)? = nil,
        log: Observer? = nil,
        added: [Observer] = [],
        isQuiet: Bool = false
    ) {
        self.configuration = configuration
        self.configuredTime = configuredTime
        self.log = log
        self.added = added
        self.isQuiet = isQuiet
        observers = (log.map { [$0] } ?? []) + added
    }

    private static let origin = ContinuousClock.now

    /// The time of an event that happens now. Calls the configured clock.
    var time: Duration {
        guard let configuredTime else {
            let origin = Self.origin
            return ContinuousClock.now - origin
        }
        var time = Duration.zero
        ObserverCall.excludingEverybody.perform { time = configuredTime() }
        return time
    }

    /// Whether mistakes are written to the system's log; otherwise they are in a log of this library, or disabled.
    var writesMistakes: Bool { !isQuiet && log == nil && configuration?.reportsMistakes ?? true }

    private func with(added: [Observer]? = nil, isQuiet: Bool? = nil) -> Observation {
        Observation(
            configuration,
            configuredTime: configuredTime,
            log: log,
            added: added ?? self.added,
            isQuiet: isQuiet ?? self.isQuiet
        )
    }
}

extension Observation {
    static var current: Observation { EventDelivery.current }

    /// - Returns: Whether `former` was still the current observation. If not, nothing is changed.
    static func configure(_ configuration: TaskDiagnostics.Configuration, replacing former: Observation) -> Bool {
        let log = configuration.debugLogging ? Observer(observer: SystemLog()) : nil
        let isDefault = configuration.clock is ContinuousClock
        let time = isDefault ? nil : stopwatch(configuration.clock)
        let fresh = Observation(
            configuration,
            configuredTime: time,
            log: log,
            added: former.added,
            isQuiet: former.isQuiet
        )
        return EventDelivery.replace { $0 === former ? fresh : $0 } === former
    }

    private static func stopwatch<C: Clock>(_ clock: C) -> @Sendable () -> Duration where C.Duration == Duration {
        let origin = clock.now
        return { origin.duration(to: clock.now) }
    }

    /// - Returns: The number that removes the observer.
    static func add(_ observer: any TaskObserver) -> UInt64 {
        let observer = Observer(observer: observer)
        EventDelivery.replace { $0.with(added: $0.added + [observer]) }
        return observer.number
    }

    static func remove(_ number: UInt64) {
        EventDelivery.replace { $0.with(added: $0.added.filter { $0.number != number }) }
    }

    /// For tests, which make mistakes on purpose.
    static func keepQuiet() {
        EventDelivery.replace { $0.with(isQuiet: true) }
    }
}
