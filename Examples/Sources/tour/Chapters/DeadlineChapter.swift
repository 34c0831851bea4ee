import Foundation
import TaskControl

/// A waits 300 ms for B, and B calls C, which works for longer than that: three processes. When does C stop?
struct DeadlineChapter: Chapter {
    let name = "deadline"
    let title = "Three processes, one deadline"

    static let limit = Duration.milliseconds(300)
    /// The time that B takes before it calls C.
    static let timeOfB = Duration.milliseconds(50)
    /// The work of C, which takes 800 ms at least.
    static let steps = 40
    static let step = Duration.milliseconds(20)
    private static let requests = 20
    /// The number of requests that run at once. Opening a connection takes time, and the limit is short: the later requests reuse open connections.
    private static let atOnce = 10

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await measure(NaivePropagation.self)
        let deadline = try await measure(DeadlinePropagation.self)
        return Report(
            naive: ["C starts \(naive.started) steps, \(naive.late) of them after the deadline of A plus the transit"],
            taskControl: [
                "C starts \(deadline.started) steps, \(deadline.late) of them after the deadline of A plus the transit",
                "\(deadline.limited) of \(Self.requests) callers have an error of their deadline",
            ],
            claims: [
                Claim("naive: neither B nor C has a deadline", naive.trips.allSatisfy(\.isUnlimited), is: true),
                Claim("naive: C starts work after the deadline of A plus the transit", naive.late) { $0 > 0 },
                Claim("withDeadline: no caller has an answer", deadline.answered, is: 0),
                Claim("withDeadline: B has less time than A, and C has less than B", deadline.isShrinking, is: true),
                Claim("withDeadline: C starts work", deadline.started) { $0 > 0 },
                Claim("withDeadline: C starts none after the deadline of A plus the transit", deadline.late, is: 0),
            ]
        )
    }

    /// Starts B and C, sends requests from this process, which is A, and ends B and C.
    private func measure<P: Propagation>(_: P.Type) async throws -> Measured {
        // B and C run this program.
        guard let executable = ChildProcess.product("tour") ?? Bundle.main.executableURL else {
            throw ChildProcessEnded()
        }
        let arguments = ["trip-service", "--form", P.form.rawValue]
        let c = try ChildProcess(executable, arguments)
        let b = try await ChildProcess(executable, arguments + ["--next", c.firstLine()])
        guard let address = try await URL(string: b.firstLine()) else { throw ChildProcessEnded() }
        let client = TripClient(address: address, policies: P.policies)
        let permits = AsyncSemaphore(name: "requests", value: Self.atOnce)
        let endings = try await withThrowingTaskGroup { group in
            for _ in 0..<Self.requests {
                group.addTask {
                    try await permits.withPermit {
                        let deadline = ContinuousClock.now + Self.limit
                        return await Result.of {
                            try await P.call(until: deadline) { try await client.pass(Trip(deadline: deadline)) }
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // B first: when B has ended, nothing calls C.
        _ = try await b.end()
        let trips = try await JSONDecoder().decode([Trip].self, from: c.end().output)
        return Measured(endings: endings, trips: trips)
    }

    private struct Measured: Sendable {
        /// The results of the calls in A.
        let endings: [Result<Void, any Error>]
        /// The trips that C saw.
        let trips: [Trip]

        var answered: Int { endings.count { $0.failure == nil } }
        var limited: Int { endings.count { $0.failure is TimeoutError || $0.failure is DeadlineExceededError } }
        var started: Int { trips.reduce(0) { $0 + $1.starts.count } }
        var late: Int { trips.reduce(0) { $0 + $1.lateStarts } }
        var isShrinking: Bool { trips.allSatisfy { $0.isShrinking(from: DeadlineChapter.limit) } }
    }
}

extension Trip {
    fileprivate var isUnlimited: Bool { hops.allSatisfy { $0.remaining == nil } }
}
