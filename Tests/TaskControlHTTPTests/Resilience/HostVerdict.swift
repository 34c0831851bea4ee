import Foundation
import TaskControl
import TaskControlHTTP
import TaskControlResilience
import TaskControlTesting
import TestSupport

/// The outcome that a breaker has counted for its only call.
enum HostVerdict {
    case failed, healthy, unknown
}

/// A breaker that opens at the first failure, if no call has succeeded before.
struct Judge: Sendable {
    let breaker: CircuitBreaker

    init(isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }) {
        // The clock stands still: the time of the tests is that of another clock.
        breaker = CircuitBreaker(failureThreshold: 1, minimumCalls: 1, isFailure: isFailure, clock: TestClock())
    }

    var policy: HostPolicy { HostPolicy(breaker: breaker) }

    /// Fails a call, if that is needed to distinguish a success from a call that says nothing.
    var verdict: HostVerdict {
        get async {
            if breaker.state != .closed { return .failed }
            try? await withPolicy(breaker) { throw EndpointError(.transport) }
            return breaker.state == .closed ? .healthy : .unknown
        }
    }
}

/// Sends each request to the host that its endpoint names.
struct AnyHost: URLRequestAdapter {
    func adapt(_ request: URLRequest) -> URLRequest { request }
}
