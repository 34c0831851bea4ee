/// The exchanges of a transport with one server: which of them have a connection, and which wait for one, in the order of
/// their start.
///
/// The network libraries do not report when a request leaves the line for one of their connections. They take the
/// requests in order, so this can be counted.
struct ConnectionLineStateMachine {
    /// The largest number of connections to the server.
    private let limit: Int
    private var connected = 0
    private var waiting: [Int] = []
    private var last = 0

    init(limit: Int) {
        self.limit = limit
    }

    var isEmpty: Bool { connected == 0 && waiting.isEmpty }

    /// Adds an exchange, and returns its number.
    mutating func enter() -> Int {
        last += 1
        if connected < limit { connected += 1 } else { waiting.append(last) }
        return last
    }

    /// Removes an exchange that has entered. If it had a connection, the first one that waits gets that connection.
    ///
    /// - Returns: Whether the exchange had a connection.
    mutating func leave(_ number: Int) -> Bool {
        if let index = waiting.firstIndex(of: number) {
            waiting.remove(at: index)
            return false
        }
        if waiting.isEmpty { connected -= 1 } else { waiting.removeFirst() }
        return true
    }
}
