import TaskControl
import TaskControlResilience

/// The parts that all clients share, as the users of one application server do: each strategy uses some of them.
struct Protection: Sendable {
    let budget = RetryBudget()
    let breaker = CircuitBreaker(name: "breaker")
}

/// The service has refused a request.
struct Unavailable: Error {}
