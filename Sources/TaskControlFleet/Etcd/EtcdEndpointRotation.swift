/// The order in which the endpoints of a cluster are tried: the one that answered last comes first.
struct EtcdEndpointRotation: Hashable, Sendable {
    private let count: Int
    private(set) var current = 0

    /// - Parameter count: The number of endpoints.
    init(count: Int) { self.count = count }

    /// The endpoints of one operation, in the order in which it tries them.
    var order: [Int] { (0..<count).map { (current + $0) % count } }

    /// Lets later operations begin with the next endpoint, unless one of them has moved on already.
    mutating func failed(_ endpoint: Int) {
        if endpoint == current, count > 0 { current = (current + 1) % count }
    }
}
