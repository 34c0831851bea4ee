/// The order in which the endpoints of a cluster are tried: first the endpoint that is in use, then the endpoints after it in the given array, and
/// then those before it.
struct EtcdEndpointRotation: Hashable, Sendable {
    private let count: Int
    private(set) var current = 0

    /// Creates a rotation that begins with the first endpoint.
    ///
    /// - Parameter count: The number of endpoints.
    init(count: Int) { self.count = count }

    /// The indices of all endpoints, in the order in which an operation tries them.
    var order: [Int] { (0..<count).map { (current + $0) % count } }

    /// Moves on to the endpoint after the endpoint with this index, which has failed. Does nothing if a concurrent
    /// operation has already moved on.
    mutating func failed(_ endpoint: Int) {
        if endpoint == current, count > 0 { current = (current + 1) % count }
    }
}
