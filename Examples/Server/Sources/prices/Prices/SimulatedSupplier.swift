/// A supplier in this process that is slow, and that fails as often as it is asked to.
actor SimulatedSupplier: Supplier {
    private var cents = ["coffee": 450, "tea": 320, "cocoa": 510, "milk": 129]
    private let latency: Duration
    private let failureRate: Double

    /// Creates a supplier.
    ///
    /// - Parameters:
    ///   - latency: The time that each call takes.
    ///   - failureRate: The share of calls that fail, from 0 to 1.
    init(latency: Duration, failureRate: Double) {
        self.latency = latency
        self.failureRate = failureRate
    }

    func price(of product: String) async throws -> Price {
        try await Task.sleep(for: latency)
        try failSometimes()
        guard let cents = cents[product] else { throw UnknownProductError(product: product) }
        return Price(product: product, cents: cents)
    }

    func changes() async throws -> AsyncThrowingStream<Price, any Error> {
        try await Task.sleep(for: latency)
        try failSometimes()
        return AsyncThrowingStream { try await self.nextChange() }
    }

    private func nextChange() async throws -> Price? {
        try await Task.sleep(for: .seconds(5))
        try failSometimes()
        guard let product = cents.keys.randomElement() else { return nil }
        cents[product, default: 0] += Int.random(in: 1...9)
        return Price(product: product, cents: cents[product, default: 0])
    }

    private func failSometimes() throws {
        if Double.random(in: 0..<1) < failureRate { throw SupplierFailure() }
    }
}
