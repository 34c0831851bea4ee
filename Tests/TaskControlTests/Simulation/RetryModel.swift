import TaskControl
import TaskControlTesting

/// A random call of `retry`, and its result by a simple loop. All times are even numbers of milliseconds except
/// the time of the cancellation, so that there are no ties.
struct RetryProgram: Sendable {
    enum Ending: CaseIterable, Sendable {
        case success, failure, throttled, fatal, cancellation

        /// The tokens that a retry after it takes: none after an interruption.
        var cost: Int {
            switch self {
            case .throttled: RetryProgram.throttledCost
            case .cancellation: 0
            case .success, .failure, .fatal: RetryProgram.cost
            }
        }
    }

    struct Attempt: Sendable {
        let ending: Ending
        let milliseconds: Int
        /// Whether a cancellation ends it early.
        let isPatient: Bool
        let hint: Int
    }

    enum Backoff: Sendable {
        case none
        case fixed(Int)
        case exponential(Int, cap: Int)
        case custom([Int?])
    }

    enum Event: Equatable, Sendable {
        case began(attempt: Int, at: Int)
        case asked(attempt: Int)
        case retries(attempt: Int, after: Int)
        case returned(Int)
        case threw(Ending)
        case cancelled
        case ended(at: Int, tokens: Int)
    }

    static let (cost, throttledCost) = (4, 3)

    let script: [Attempt]
    let attempts: Int
    let backoff: Backoff
    let maxElapsed: Int?
    let tokens: Int?
    /// When the caller is cancelled, in milliseconds from the start.
    let cancellation: Int?

    init(_ random: inout SeededGenerator) {
        func even(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) * 2 }
        attempts = .random(in: 1...5, using: &random)
        script = (0..<attempts).map { _ in
            // Failures more often than ends.
            let ending =
                Bool.random(using: &random)
                ? [.failure, .throttled].randomElement(using: &random)! : Ending.allCases.randomElement(using: &random)!
            return Attempt(
                ending: ending,
                milliseconds: Bool.random(using: &random) ? 0 : even(0..<500),
                isPatient: .random(using: &random),
                hint: [-2, 0, 100, 2_000, 4_000, 10_000, 70_000].randomElement(using: &random)!
            )
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: backoff = .none
        case 1: backoff = .fixed(even(0..<1_000))
        case 2: backoff = .exponential(even(0..<1_000), cap: even(1..<5_000))
        default:
            backoff = .custom(
                (0..<attempts).map { _ in Int.random(in: 0..<8, using: &random) == 0 ? nil : even(0..<1_000) }
            )
        }
        maxElapsed = Int.random(in: 0..<3, using: &random) == 0 ? even(0..<4_000) : nil
        tokens = Bool.random(using: &random) ? .random(in: 0..<14, using: &random) : nil
        cancellation = Bool.random(using: &random) ? even(0..<3_000) + 1 : nil
    }

    // MARK: The loop

    /// - Parameter isCancelled: Whether the caller is cancelled at its time; otherwise it never is.
    func expected(isCancelled: Bool = true) -> [Event] {
        let cancellation = isCancelled ? self.cancellation ?? .max : .max
        var (now, left, spent) = (0, tokens ?? 0, 0)
        var events: [Event] = []
        func end(_ event: Event) -> [Event] { events + [event, .ended(at: now, tokens: left)] }
        for (number, attempt) in zip(1..., script) {
            events.append(.began(attempt: number, at: now))
            if !attempt.isPatient, cancellation < now + attempt.milliseconds {
                now = cancellation
                return end(.cancelled)
            }
            now += attempt.milliseconds
            if attempt.ending == .success {
                left = min(left + (spent == 0 ? 1 : spent), tokens ?? 0)
                return end(.returned(number))
            }
            if cancellation < now { return end(.cancelled) }
            if number == attempts { return end(.threw(attempt.ending)) }
            events.append(.asked(attempt: number))
            guard attempt.ending != .fatal, var delay = delay(number) else { return end(.threw(attempt.ending)) }
            let isThrottled = attempt.ending == .throttled
            if isThrottled, attempt.hint > delay {
                guard attempt.hint <= longestHint else { return end(.threw(attempt.ending)) }
                delay = attempt.hint
            }
            if let maxElapsed, now + delay > maxElapsed { return end(.threw(attempt.ending)) }
            if tokens != nil {
                spent = attempt.ending.cost
                if spent > left { return end(.threw(attempt.ending)) }
                left -= spent
            }
            events.append(.retries(attempt: number, after: delay))
            if cancellation < now + delay {
                (now, left) = (cancellation, left + spent)
                return end(.cancelled)
            }
            now += delay
        }
        return events
    }

    private var longestHint: Int {
        if case .exponential(_, let cap) = backoff { cap } else { 60_000 }
    }

    private func delay(_ attempt: Int) -> Int? {
        switch backoff {
        case .none: return 0
        case .fixed(let delay): return delay
        case .exponential(var delay, let cap):
            for _ in 1..<attempt { delay *= 2 }
            return min(delay, cap)
        case .custom(let delays): return delays[attempt - 1]
        }
    }
}
