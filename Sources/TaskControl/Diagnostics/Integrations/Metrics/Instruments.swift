#if Metrics
/// Metrics of one kind: each is made when it is first needed, and kept.
struct Instruments<Instrument: Sendable>: Sendable {
    private let made = Locked<[MetricName: Instrument]>([:])
    private let make: @Sendable (String, [(String, String)]) -> Instrument

    init(_ make: @escaping @Sendable (String, [(String, String)]) -> Instrument) {
        self.make = make
    }

    subscript(name: MetricName) -> Instrument {
        if let instrument = made.withLock({ $0[name] }) { return instrument }
        // Without the lock: a factory is somebody else's code.
        let instrument = make(name.label.rawValue, name.dimensions.map { ($0.name, $0.value) })
        return made.withLock { made in
            // Somebody else may have been faster; what is not needed is let go of later.
            if let first = made[name] { return first }
            made[name] = instrument
            return instrument
        }
    }
}
#endif
