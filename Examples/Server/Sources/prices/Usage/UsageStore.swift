/// The system that receives the records of usage, for example for invoices.
protocol UsageStore: Sendable {
    /// Adds the records of one request.
    func append(_ product: String) async
    /// Returns when all records have been stored.
    func flush() async throws
}
