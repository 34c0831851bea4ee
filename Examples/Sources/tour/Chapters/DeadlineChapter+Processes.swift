import ArgumentParser
import FlyingFox
import Foundation
import TaskControlHTTP

/// Process B or C of the chapter `deadline`, which the tour starts.
///
/// It prints its address first. At the end of its input it takes no further trips, waits until the work that it has started is over, and
/// prints the trips that it has seen.
struct TripServiceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "trip-service", shouldDisplay: false)

    enum Form: String, ExpressibleByArgument {
        case naive, deadline
    }

    @Option var form: Form
    /// The address of C, in B.
    @Option var next: String?

    func run() async throws {
        switch form {
        case .naive: try await run(NaivePropagation.self)
        case .deadline: try await run(DeadlinePropagation.self)
        }
    }

    private func run<P: Propagation>(_: P.Type) async throws {
        let service = TripService<P>(next: next.flatMap { URL(string: $0) })
        try await LocalServer.whileRunning(routes: [("POST /trips", { try await service.handle($0) })]) { address in
            Terminal.print("\(address)")
            await ChildProcess.waitForEndOfInput()
            let trips = try await service.end()
            // Not `Terminal`, which ends the program with a report of a crash if the tour was killed and nothing reads the output.
            try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(trips))
        }
    }
}

/// The work of B and C on a request: B passes it on after a moment, and C works.
private final class TripService<P: Propagation>: Sendable {
    private let trips = Observed(Trips())
    private let next: TripClient?

    init(next: URL?) { self.next = next.map { TripClient(address: $0, policies: P.policies) } }

    func handle(_ request: HTTPRequest) async throws -> HTTPResponse {
        let deadline = P.deadline(of: request)
        let received = ContinuousClock.now
        var trip = try await JSONDecoder().decode(Trip.self, from: request.bodyData)
        guard let hop = trip.hops.indices.last else { return HTTPResponse(statusCode: .badRequest) }
        trip.hops[hop].received = received
        trip.hops[hop].remaining = deadline?.remaining
        guard let index = trips.update({ [trip] in $0.begin(trip) }) else {
            return HTTPResponse(statusCode: .serviceUnavailable)
        }
        defer { trips.update { $0.running -= 1 } }
        do {
            try await P.answer(by: deadline) {
                if let next {
                    try await Task.sleep(for: DeadlineChapter.timeOfB)
                    try await next.pass(trip)
                } else {
                    try await work(for: index)
                }
            }
        } catch {
            return HTTPResponse(statusCode: .gatewayTimeout)
        }
        return HTTPResponse(statusCode: .noContent)
    }

    private func work(for index: Int) async throws {
        for _ in 0..<DeadlineChapter.steps {
            let start = ContinuousClock.now
            guard P.mayStart else { throw DeadlineExceededError() }
            trips.update { $0.all[index].starts.append(start) }
            try await Task.sleep(for: DeadlineChapter.step)
        }
    }

    func end() async throws -> [Trip] {
        trips.update { $0.isClosed = true }
        try await trips.wait { $0.running == 0 }
        return trips.value.all
    }
}
