import TaskControl
import TaskControlFleet
import TaskControlTesting

struct ReadNumber: SimulatedNetwork.Request {
    typealias Reply = Int

    let name: String
    let token: Lease.FencingToken
}

struct WriteNumber: SimulatedNetwork.Request {
    typealias Reply = Void

    let name: String
    let token: Lease.FencingToken
    let number: Int
    /// Identifies the request: a request that the network has delivered twice is executed once.
    let id: Int
}

struct StaleTokenError: Error {}

/// A resource on a node of its own: a number per name. It refuses tokens that are lower than the highest that it has seen. Its state survives crashes.
final class FleetResource: Sendable {
    private struct Number {
        var value = 0
        var token = Lease.FencingToken(rawValue: 0)
        var executed: Set<Int> = []
    }

    private let numbers = Locked<[String: Number]>([:])
    private let onRefusal: @Sendable (_ name: String, _ token: Lease.FencingToken) -> Void

    /// - Parameter onRefusal: Called at the time of the refusal.
    init(onRefusal: @escaping @Sendable (_ name: String, _ token: Lease.FencingToken) -> Void) {
        self.onRefusal = onRefusal
    }

    func value(of name: String) -> Int { numbers.withLock { $0[name]?.value ?? 0 } }

    func addNode(to network: SimulatedNetwork) {
        network.addNode("resource") { [self] process in
            process.handle(ReadNumber.self) { try self.access($0.name, $0.token) { $0.value } }
            process.handle(WriteNumber.self) { request in
                try self.access(request.name, request.token) {
                    if $0.executed.insert(request.id).inserted { $0.value = request.number }
                }
            }
        }
    }

    private func access<Result>(_ name: String, _ token: Lease.FencingToken, _ body: (inout Number) -> Result) throws
        -> Result
    {
        let result = numbers.withLock { numbers -> Result? in
            guard token >= numbers[name, default: Number()].token else { return nil }
            numbers[name, default: Number()].token = token
            return body(&numbers[name]!)
        }
        guard let result else {
            onRefusal(name, token)
            throw StaleTokenError()
        }
        return result
    }
}
