/// The upstream service. In a service of your own, this is a client of TaskControlHTTP or of a database.
protocol Supplier: Sendable {
    /// Returns the price of a product.
    ///
    /// - Throws: `UnknownProductError`; any other error is a failure of the supplier.
    func price(of product: String) async throws -> Price

    /// Connects, and returns the changes of prices from now on. The stream fails when the connection is lost.
    func changes() async throws -> AsyncThrowingStream<Price, any Error>
}

/// The supplier has answered that it has no such product. This is an answer, and not a failure of the supplier.
struct UnknownProductError: Error {
    let product: String
}

/// The supplier has failed.
struct SupplierFailure: Error {}
