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

    /// The program that B and C run: this one.
    var executable = Bundle.main.executableURL

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let naive = try await play(NaivePropagation.self, as: "naive")
        let deadline = try await play(DeadlinePropagation.self, as: "withDeadline")
        return Report(
            naive: ["\(naive.limited) of \(Self.requests) callers have a TimeoutError"] + naive.lines,
            taskControl: ["\(deadline.limited) of \(Self.requests) callers have a DeadlineExceededError"]
                + deadline.lines,
            claims: [
                Claim("naive: neither B nor C has a deadline", naive.trips.allSatisfy(\.isUnlimited), is: true),
                Claim(
                    "naive: C starts work after the deadline of A plus the transit",
                    holds: naive.late > 0,
                    measured: "\(naive.late) steps"
                ),
                Claim("withDeadline: no caller has an answer", deadline.answered, is: 0),
                Claim("withDeadline: B has less time than A, and C has less than B", deadline.isShrinking, is: true),
                Claim(
                    "withDeadline: C starts work",
                    holds: deadline.started > 0,
                    measured: "\(deadline.started) steps"
                ),
                Claim("withDeadline: C starts none after the deadline of A plus the transit", deadline.late, is: 0),
            ]
        )
    }

    @MainActor
    private func play<P: Propagation>(_: P.Type, as act: String) async throws -> Measured {
        let measured = try await measure(P.self, requests: Self.requests, atOnce: Self.atOnce)
        Progress(chapter: name, act: act).finish(
            "\(measured.trips.count) requests in C, \(measured.started) steps started, \(measured.late) of them late"
        )
        return measured
    }

    /// Starts B and C, sends requests from this process, which is A, and ends B and C.
    func measure<P: Propagation>(_: P.Type, requests: Int, atOnce: Int) async throws -> Measured {
        guard let executable else { throw ChildProcessEnded() }
        let arguments = ["trip-service", "--form", P.form.rawValue]
        let c = try ChildProcess(executable, arguments)
        let b = try await ChildProcess(executable, arguments + ["--next", c.firstLine()])
        guard let address = try await URL(string: b.firstLine()) else { throw NoAddress() }
        let client = TripClient(address: address, policies: P.policies)
        let permits = AsyncSemaphore(name: "requests", value: atOnce)
        let endings = try await withThrowingTaskGroup { group in
            for _ in 0..<requests {
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
        let trips = try await JSONDecoder().decode([Trip].self, from: c.end())
        return Measured(endings: endings, trips: trips)
    }

    struct Measured: Sendable, CustomStringConvertible {
        /// The results of the calls in A.
        let endings: [Result<Void, any Error>]
        /// The trips that C saw.
        let trips: [Trip]

        var answered: Int { endings.count { $0.failure == nil } }
        var limited: Int { endings.count { $0.failure is TimeoutError || $0.failure is DeadlineExceededError } }
        var started: Int { trips.reduce(0) { $0 + $1.starts.count } }
        var late: Int { trips.reduce(0) { $0 + $1.lateStarts } }
        var isShrinking: Bool { trips.allSatisfy { $0.isShrinking(from: DeadlineChapter.limit) } }
        /// The longest transit from A to C.
        var transit: Duration { trips.map(\.transit).max() ?? .zero }

        var lines: [String] {
            [
                remaining,
                "C starts \(started) steps",
                "\(late) of them after the deadline of A plus the transit of \(transit.inMilliseconds) at most",
                "the last step starts \(last)",
            ]
        }

        /// A short text for the message of a failure, which would list 1,000 trips otherwise.
        var description: String { "\(trips.count) requests in C; " + lines.joined(separator: "; ") }

        /// The time that each process has left, for the first request in C.
        private var remaining: String {
            let times = trips.first?.hops.map { $0.remaining?.inMilliseconds ?? "no deadline" } ?? []
            return (["A has \(DeadlineChapter.limit.inMilliseconds)"] + zip(["B", "C"], times).map { "\($0) \($1)" })
                .joined(separator: ", ")
        }

        /// The last start of a step, relative to the deadline of its request in A.
        private var last: String {
            guard let time = trips.flatMap({ trip in trip.starts.map { $0 - trip.deadline } }).max() else {
                return "never"
            }
            return time > .zero
                ? "\(time.inMilliseconds) after that deadline" : "\((.zero - time).inMilliseconds) before that deadline"
        }
    }
}

extension Trip {
    fileprivate var isUnlimited: Bool { hops.allSatisfy { $0.remaining == nil } }
}
