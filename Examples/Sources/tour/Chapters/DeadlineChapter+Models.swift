import FlyingFox
import TaskControlHTTP

/// How the time that A has reaches B and C.
protocol Propagation: Sendable {
    /// The name of the form for the command of B and C.
    static var form: TripServiceCommand.Form { get }
    /// The policies of the clients in A and B.
    static var policies: ClientPolicies { get }
    /// A: calls B, and waits until an instant.
    nonisolated(nonsending) static func call(
        until instant: ContinuousClock.Instant,
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async throws
    /// B and C: the deadline of a request; `nil` if they do not know of any.
    static func deadline(of request: HTTPRequest) -> Deadline?
    /// B and C: answers a request.
    nonisolated(nonsending) static func answer(
        by deadline: Deadline?,
        _ answer: nonisolated(nonsending) () async throws -> Void
    ) async throws
    /// C: whether another step of the work may start.
    static var mayStart: Bool { get }
}

/// As people write it today: a time limit in A alone.
enum NaivePropagation: Propagation {
    static let form = TripServiceCommand.Form.naive
    static let policies = ClientPolicies()

    nonisolated(nonsending) static func call(
        until instant: ContinuousClock.Instant,
        _ call: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        try await withTimeout(instant - .now, operation: call)
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

/// With a deadline: a client sends the time that is left, and the server behind it creates its deadline from that.
enum DeadlinePropagation: Propagation {
    static let form = TripServiceCommand.Form.deadline
    /// A client sends at least one unit: the unit of this header is a nanosecond where little time is left, not a millisecond.
    static let header = DeadlineHeader.grpcTimeout
    static let policies = ClientPolicies(deadlineHeader: header)

    nonisolated(nonsending) static func call(
        until instant: ContinuousClock.Instant,
        _ call: nonisolated(nonsending) () async throws -> Void
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
