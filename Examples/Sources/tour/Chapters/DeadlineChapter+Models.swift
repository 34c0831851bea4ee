import FlyingFox
import Foundation
import TaskControlHTTP

/// A way in which the remaining time of A reaches B and C.
protocol Propagation: Sendable {
    /// The name of the form for the command of B and C.
    static var form: TripServiceCommand.Form { get }
    /// The policies of the clients in A and B.
    static var policies: ClientPolicies { get }
    /// Calls B, and waits until an instant. Used by A.
    static func call(
        until instant: ContinuousClock.Instant,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws
    /// Returns the deadline of a request; `nil` if the server knows of none. Used by B and C.
    static func deadline(of request: HTTPRequest) -> Deadline?
    /// Answers a request. Used by B and C.
    nonisolated(nonsending) static func answer(
        by deadline: Deadline?,
        _ answer: nonisolated(nonsending) () async throws -> Void
    ) async throws
    /// Whether another step of the work may start. Used by C.
    static var mayStart: Bool { get }
}

/// Propagation as people write it today: a time limit in A alone, which is a race of two tasks.
enum NaivePropagation: Propagation {
    static let form = TripServiceCommand.Form.naive
    static let policies = ClientPolicies()

    static func call(
        until instant: ContinuousClock.Instant,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await call() }
            group.addTask {
                try await Task.sleep(until: instant)
                throw TimeoutError(duration: DeadlineChapter.limit)
            }
            try await group.next()
        }
    }

    static func deadline(of request: HTTPRequest) -> Deadline? { nil }

    nonisolated(nonsending) static func answer(
        by deadline: Deadline?,
        _ answer: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        try await answer()
    }

    static var mayStart: Bool { true }
}

/// Propagation of a deadline: a client sends the remaining time, and the server creates its deadline from that time.
enum DeadlinePropagation: Propagation {
    static let form = TripServiceCommand.Form.deadline
    /// A client sends at least one unit: the unit of this header is a nanosecond where little time is left, not a millisecond.
    static let header = DeadlineHeader.grpcTimeout
    static let policies = ClientPolicies(deadlineHeader: header)

    static func call(
        until instant: ContinuousClock.Instant,
        _ call: @escaping @Sendable () async throws -> Void
    ) async throws {
        try await withDeadline(instant, clock: ContinuousClock(), operation: call)
    }

    static func deadline(of request: HTTPRequest) -> Deadline? {
        Deadline(remaining: request.headers[HTTPHeader(header.name)], in: header)
    }

    nonisolated(nonsending) static func answer(
        by deadline: Deadline?,
        _ answer: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        guard let deadline else { return try await answer() }
        try await withDeadline(deadline, operation: answer)
    }

    /// The deadline cancels the task too, but on a busy machine a moment later.
    static var mayStart: Bool { Task.currentDeadline?.hasPassed != true }
}
