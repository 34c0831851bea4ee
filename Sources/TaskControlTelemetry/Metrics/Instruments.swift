#if Metrics
internal import _TaskControlShared

/// The instruments of one type, such as counters, by the names of their metrics. Each is created when it is first needed, and kept.
struct Instruments<Instrument: Sendable>: Sendable {
    private let made = Guarded<[MetricName: Instrument]>([:])
    private let make: @Sendable (String, [(String, String)]) -> Instrument

    init(_ make: @escaping @Sendable (String, [(String, String)]) -> Instrument) {
        self.make = make
    }

    subscript(name: MetricName) -> Instrument {
        if let instrument = made.withLock({ $0[name] }) { return instrument }
        // Without the lock: a factory is foreign code.
        let instrument = make(name.label.rawValue, name.dimensions.map { ($0.name, $0.value) })
        return made.withLock { made in
            // Another thread may have been faster; the second instrument is released without the lock.
            if let first = made[name] { return first }
            made[name] = instrument
            return instrument
        }
    }
}
#endif
