import TaskControlTesting

@testable import prices

/// A store that records what it receives, each record when the gate is open.
struct StubStore: UsageStore {
    let events: OrderRecorder<String>
    var gate: Gate?

    func append(_ product: String) async {
        do {
            try await gate?.wait()
            events.record(product)
        } catch {
            events.record("\(product) is lost")
        }
    }

    func flush() { events.record("flush") }
}
