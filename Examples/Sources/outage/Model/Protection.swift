import Foundation
import TaskControl
import TaskControlResilience
import TaskControlTesting

/// The parts that all clients share, as the users of one application server do: each strategy uses some of them.
struct Protection: Sendable {
    let budget = RetryBudget()
    let throttle: ClientThrottle
    let breaker = CircuitBreaker(name: "breaker")
    let limiter: AdaptiveLimiter

    init(seed: UInt64) {
        let dice = Dice(seed: seed)
        throttle = ClientThrottle(name: "throttle", random: { dice.roll() })
        // A refusal says that the service has too much to do, as a time limit does elsewhere.
        limiter = AdaptiveLimiter(name: "limit", isDrop: { $0 is Unavailable }, random: { dice.roll() })
    }
}

/// The service has refused a request.
struct Unavailable: Error {}

/// Random numbers that are the same in each run.
private final class Dice: @unchecked Sendable {
    // Sendable: the generator is used under the lock alone.
    private let lock = NSLock()
    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    func roll() -> Double { lock.withLock { Double.random(in: 0..<1, using: &generator) } }
}
