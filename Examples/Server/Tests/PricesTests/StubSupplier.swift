import TaskControlTesting

@testable import prices

/// A supplier that answers as the test decides.
actor StubSupplier: Supplier {
    /// The calls, in order.
    nonisolated let calls = OrderRecorder<String>()
    private var answers: [String: Result<Price, any Error>]
    private let gate: Gate?
    private var connections: [AsyncThrowingStream<Price, any Error>]

    /// Creates a supplier.
    ///
    /// - Parameters:
    ///   - answers: The answer for each product. All others are unknown.
    ///   - gate: Each call waits for it.
    ///   - connections: The changes of each connection, one after the other. Further connections never succeed.
    init(
        _ answers: [String: Result<Price, any Error>] = [:],
        gate: Gate? = nil,
        connections: [AsyncThrowingStream<Price, any Error>] = []
    ) {
        self.answers = answers
        self.gate = gate
        self.connections = connections
    }

    func price(of product: String) async throws -> Price {
        calls.record(product)
        do {
            try await gate?.wait()
        } catch {
            calls.record("\(product) is cancelled")
            throw error
        }
        guard let answer = answers[product] else { throw UnknownProductError(product: product) }
        return try answer.get()
    }

    func changes() async throws -> AsyncThrowingStream<Price, any Error> {
        calls.record("connect")
        guard !connections.isEmpty else {
            try await Gate().wait()
            throw CancellationError()
        }
        return connections.removeFirst()
    }

    func setAnswer(_ answer: Result<Price, any Error>, for product: String) {
        answers[product] = answer
    }
}
