import TaskControl
import TaskControlSupervision

/// A feed is connected for as long as its owner, and its server fails three times: does the feed come back, and how often does it try?
struct FeedChapter: Chapter {
    let name = "feed"
    let title = "The feed reconnects"

    static let events = Array(1...12)

    @MainActor
    func run(_ tour: Tour) async throws -> Report {
        let once = try await playOnce(tour)
        let loop = try await playLoop(tour)
        let (kept, requestsBeforeEnd, states) = try await playSupervised(tour)
        let delays = states.outages
        let all = Self.events
        return Report(
            naive: [
                "a loop that ends at an error: \(once.received.count) of \(all.count) events",
                "a loop that connects again at once: \(loop.visits.brokenOff) requests into outages",
            ],
            taskControl: [
                "\(kept.received.count) of \(all.count) events, \(kept.visits.brokenOff) requests into outages"
            ],
            claims: [
                Claim("naive: the feed ends at the first outage", once.received, is: [1, 2, 3]),
                Claim("naive: it never connects again", once.visits.received, is: 4),
                Claim("naive, at once: every event comes once, in order", loop.received, is: all),
                Claim(
                    "naive, at once: it sends more requests into the outages than keepRunning",
                    holds: loop.visits.brokenOff > kept.visits.brokenOff,
                    measured: "\(loop.visits.brokenOff) and \(kept.visits.brokenOff)"
                ),
                Claim("keepRunning: every event comes once, in order", kept.received, is: all),
                Claim("keepRunning: each outage is followed by restarts", delays.count, is: Outages.firstEvents.count),
                Claim(
                    "keepRunning: the delays double in each outage, and begin again with the next",
                    holds: delays.allSatisfy { !$0.isEmpty && $0 == Array(Self.delays.prefix($0.count)) },
                    measured: "\(delays)"
                ),
                Claim(
                    "keepRunning: each restart comes after its delay",
                    holds: zip(kept.pauses, delays).allSatisfy { pauses, delays in
                        pauses.count == delays.count && zip(pauses, delays).allSatisfy { $0 >= $1 }
                    },
                    measured: "\(kept.pauses)"
                ),
                Claim("keepRunning: the server sees the client leave at the shutdown", kept.visits.gone, is: 1),
                Claim("keepRunning: the shutdown is the end", states.isStopped, is: true),
                Claim("keepRunning: no request follows the shutdown", kept.visits.received - requestsBeforeEnd, is: 0),
            ]
        )
    }

    /// The default begins at 200 ms. The chapter has less time.
    static let backoff = RetryBackoff.exponential(base: .milliseconds(20))
    private static let delays = (0..<16).map { Duration.milliseconds(20) * (1 << $0) }

    @MainActor
    private func playOnce(_ tour: Tour) async throws -> Measured {
        try await tour.act("naive, ends at an error", of: self, rule: Outages().reply) { stage, api in
            stage.open()
            let reader = EventReader(api: api)
            try await NaiveFeeds.followOnce(reader).expectEnd("the loop")
            try await stage.visits.expect("the request to end") { $0.inFlight == 0 }
            return Measured(received: reader.received, visits: stage.visits.value)
        }
    }

    @MainActor
    private func playLoop(_ tour: Tour) async throws -> Measured {
        // The machine decides how often the loop can try in an outage. It tries at least as often as this.
        let outages = Outages(leastRefusals: 20)
        return try await tour.act("naive, at once", of: self, rule: outages.reply) { stage, api in
            let reader = EventReader(api: api)
            let loop = NaiveFeeds.followForever(reader)
            try await Self.waitForEvents(reader, stage)
            loop.cancel()
            try await loop.expectEnd("the loop")
            try await stage.visits.expect("all requests to end") { $0.inFlight == 0 }
            return Measured(received: reader.received, visits: stage.visits.value)
        }
    }

    @MainActor
    private func playSupervised(_ tour: Tour) async throws -> (Measured, requestsBeforeEnd: Int, FeedStates) {
        try await tour.act("keepRunning", of: self, rule: Outages().reply) { stage, api in
            let reader = EventReader(api: api)
            let feed = Feed(reader: reader)
            let states = Task { await FeedStates(feed.work.states) }
            try await Self.waitForEvents(reader, stage)
            let requests = stage.visits.value.received

            await feed.lifetime.shutdown(grace: .zero)
            try await stage.visits.expect("the client to leave") { $0.inFlight == 0 }
            // The last state is the end of the work: no run can follow.
            try await states.expectEnd("the states of the feed")
            return (Measured(received: reader.received, visits: stage.visits.value), requests, await states.value)
        }
    }

    /// Waits until the feed has all events, and waits for another one, which never comes.
    @MainActor
    private static func waitForEvents(_ reader: EventReader, _ stage: Stage) async throws {
        let next = EventReader.subject(events.count + 1)
        stage.open(except: next)
        try await stage.visits.expect("all events to be received") { $0.hasReceived(next) }
    }

    private struct Measured: Sendable {
        let received: [Int]
        let visits: Visits

        /// The times between the requests of each outage: the last of them is the one that was answered.
        var pauses: [[Duration]] {
            Outages.firstEvents.map { event in
                let times = visits.all.filter { $0.subject == EventReader.subject(event) }.map(\.time)
                return zip(times, times.dropFirst()).map { $1 - $0 }
            }
        }
    }
}
