import TaskControl
import TaskControlTesting

/// A tree of work and the time limits around it, and its result by arithmetic.
indirect enum TimeLimitProgram: Sendable {
    /// Work of a length; deaf work ignores its cancellation.
    case work(Duration, isDeaf: Bool)
    case fails
    case limit(Duration, [TimeLimitProgram])

    enum Outcome: Equatable {
        case done, failed, cancelled
        case timedOut(Duration)
    }

    struct Failed: Error {}

    /// Times in nanoseconds up to a second: no two of them meet.
    init(_ random: inout SeededGenerator, depth: Int) {
        func duration(_ random: inout SeededGenerator) -> Duration {
            .nanoseconds(Int.random(in: 1...1_000_000_000, using: &random))
        }
        switch Int.random(in: 0..<(depth > 0 ? 10 : 4), using: &random) {
        case 0: self = .fails
        case 1: self = .work(duration(&random), isDeaf: true)
        case 2...4: self = .work(duration(&random), isDeaf: false)
        default:
            let limit = duration(&random)
            self = .limit(
                limit,
                (0..<Int.random(in: 1...2, using: &random)).map { _ in Self(&random, depth: depth - 1) }
            )
        }
    }

    func run() async throws {
        switch self {
        case .fails: throw Failed()
        case .work(let duration, isDeaf: false): try await Task.sleep(for: duration)
        case .work(let duration, isDeaf: true): await Task { try? await Task.sleep(for: duration) }.value
        case .limit(let limit, let parts):
            try await withTimeout(limit) { for part in parts { try await part.run() } }
        }
    }

    /// The result, and its time.
    ///
    /// - Parameter cancellation: When its task is cancelled.
    func outcome(from start: Duration, cancellation: Duration) -> (end: Duration, Outcome) {
        switch self {
        case .fails: return (start, .failed)
        case .work(let duration, let isDeaf):
            let end = start + duration
            return isDeaf || end < cancellation ? (end, .done) : (max(start, cancellation), .cancelled)
        case .limit(let limit, let parts):
            if cancellation <= start { return (start, .cancelled) }
            let deadline = start + limit
            var (end, outcome) = (start, Outcome.done)
            for part in parts where outcome == .done {
                (end, outcome) = part.outcome(from: end, cancellation: min(cancellation, deadline))
            }
            if end < deadline, outcome == .done { return (end, .done) }
            if cancellation <= end { return (end, .cancelled) }
            return (end, end < deadline ? outcome : .timedOut(limit))
        }
    }
}

extension TimeLimitProgram.Outcome {
    init(_ result: Result<Void, any Error>) {
        switch result {
        case .success: self = .done
        case .failure(let error as TimeoutError): self = .timedOut(error.duration)
        case .failure(is TimeLimitProgram.Failed): self = .failed
        case .failure: self = .cancelled
        }
    }
}
