import Foundation
import TaskControlHTTP

/// A request that goes from A to B, and from B to C. It carries what each process saw.
///
/// All instants are of the continuous clock: the processes of a machine share it, and their deadlines are measured by it.
struct Trip: Codable, Sendable {
    /// The transit from one process to the next.
    struct Hop: Codable, Sendable {
        /// The instant before the client computes the remaining time.
        let sent: ContinuousClock.Instant
        /// The instant after the server has created its deadline.
        var received: ContinuousClock.Instant?
        /// The time that the receiver has; `nil` if it does not know.
        var remaining: Duration?

        var time: Duration { received.map { $0 - sent } ?? .zero }
    }

    /// The deadline of A.
    let deadline: ContinuousClock.Instant
    var hops: [Hop] = []
    /// The start of each step of the work in C.
    var starts: [ContinuousClock.Instant] = []

    /// The time that the request was between two processes: less than a round trip, since the answers are missing.
    var transit: Duration { hops.reduce(.zero) { $0 + $1.time } }

    /// The number of steps that were started after the deadline of A plus the transit.
    ///
    /// A server cannot know the time of the transit, so its deadline is later than that of its client by this time, and by no other. This is exact
    /// on a busy machine too: `sent` is read before the client computes the time that is left, `received` after the server has its deadline, and
    /// the start of a step before its deadline is looked at. A process that is suspended in between makes the limit later, or the start earlier.
    var lateStarts: Int { starts.count { $0 > deadline + transit } }

    /// Returns whether each process has less time than the process before it.
    func isShrinking(from limit: Duration) -> Bool {
        let times = [limit] + hops.compactMap(\.remaining)
        return times.count == hops.count + 1 && zip(times, times.dropFirst()).allSatisfy { $0 > $1 }
    }
}

/// The trips that one process has seen.
struct Trips: Sendable {
    var all: [Trip] = []
    var running = 0
    /// Whether the process takes no further trips.
    var isClosed = false

    /// Adds a trip, and returns its index; `nil` if the process takes no further trips.
    mutating func begin(_ trip: Trip) -> Int? {
        guard !isClosed else { return nil }
        running += 1
        all.append(trip)
        return all.count - 1
    }
}

/// The client of the next process, in A and B.
struct TripClient: Sendable {
    private struct Pass: Endpoint {
        typealias Content = Void

        let trip: Trip

        func makeRequest() throws -> URLRequest { post("trips", body: try .json(encoding: trip)) }
    }

    private let client: EndpointClient

    init(address: URL, policies: ClientPolicies) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = API.connections
        client = EndpointClient(
            name: "trips",
            baseURL: address,
            transport: URLSessionTransport(configuration: configuration),
            policies: policies
        )
    }

    func pass(_ trip: Trip) async throws {
        var trip = trip
        trip.hops.append(Trip.Hop(sent: .now))
        try await client.request(Pass(trip: trip))
    }
}
