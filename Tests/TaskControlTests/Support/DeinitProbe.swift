import TaskControlTesting

/// Opens a gate when it is deinitialised: keep one in an object whose end a test waits for.
final class DeinitProbe: Sendable {
    private let gate: Gate

    init(_ gate: Gate) {
        self.gate = gate
    }

    deinit {
        gate.open()
    }
}
