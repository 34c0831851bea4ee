@testable import TaskControl

/// A clock whose time is moved by the test.
final class ManualClock: Clock, Sendable {
    struct Instant: InstantProtocol {
        var offset: Duration = .zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var sleepCount = 0
        var countWaiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var now: Instant { state.withLock(\.now) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let number = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enum Outcome { case asleep([CheckedContinuation<Void, Never>]), elapsed, cancelled }
                let outcome: Outcome = state.withLock { state in
                    if state.cancelled.contains(number) { return .cancelled }
                    if deadline <= state.now { return .elapsed }
                    state.sleepers[number] = Sleeper(deadline: deadline, continuation: continuation)
                    state.sleepCount += 1
                    let told = state.countWaiters.filter { $0.count <= state.sleepCount }
                    state.countWaiters.removeAll { $0.count <= state.sleepCount }
                    return .asleep(told.map(\.continuation))
                }
                switch outcome {
                case .asleep(let told): for waiter in told { waiter.resume() }
                case .elapsed: continuation.resume()
                case .cancelled: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(number)
                return state.sleepers.removeValue(forKey: number)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until so many sleeps have begun, in all.
    func hasSlept(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.sleepCount >= count { return true }
                state.countWaiters.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
