import TaskControl
import TaskControlSupervision
import Testing

@testable import tour

/// The facts on which the chapter's claims rest.
@Suite(.timeLimit(.minutes(15)))
@MainActor
struct FeedTests {
    @Test func anOutageBeginsWithItsEventAndEndsAfterItsTime() {
        let outages = Outages()
        let first = visit(4, at: .zero)
        #expect(outages.reply(to: visit(3, at: .zero), after: []) == .answer)
        #expect(outages.reply(to: first, after: []) == .breakOff)
        #expect(outages.reply(to: visit(4, at: .milliseconds(149)), after: [first]) == .breakOff)
        #expect(outages.reply(to: visit(4, at: .milliseconds(150)), after: [first]) == .answer)
        #expect(outages.reply(to: visit(5, at: .zero), after: []) == .answer)
    }

    @Test func anOutageLastsLongerThanItsTimeIfTooFewHaveCome() {
        let outages = Outages(leastRefusals: 3)
        let earlier = (0..<3).map { visit(7, at: .milliseconds($0)) }
        let late = visit(7, at: .seconds(1))
        #expect(outages.reply(to: late, after: Array(earlier.prefix(2))) == .breakOff)
        #expect(outages.reply(to: late, after: earlier) == .answer)
        #expect(outages.reply(to: visit(7, at: .milliseconds(100)), after: earlier) == .breakOff)
    }

    @Test func theDelaysOfTheStatesBelongToOutages() async {
        struct Lost: Error {}
        func waiting(_ milliseconds: Int) -> SupervisedWork.State {
            .waiting(for: .milliseconds(milliseconds), after: Lost())
        }
        let states = await FeedStates(
            stream([
                .starting, .running, waiting(20), .starting, waiting(40), .starting, .running, waiting(20), .starting,
                .running, .stopped,
            ])
        )
        #expect(states.outages == [[.milliseconds(20), .milliseconds(40)], [.milliseconds(20)]])
        #expect(states.isStopped)
        #expect(await !FeedStates(stream([.starting, .running])).isStopped)
    }

    @Test func aShutdownInAnOutageIsFollowedByNoRestart() async throws {
        try await TourServer.whileRunning { server in
            for _ in 0..<10 {
                // An outage that never ends.
                let (stage, address) = server.makeStage { _, _ in .breakOff }
                stage.open()
                let reader = EventReader(api: API(address: address))
                let feed = Feed(reader: reader)
                let states = Task { await FeedStates(feed.work.states) }
                try await stage.visits.expect("a restart") { $0.received >= 2 }
                await feed.lifetime.shutdown(grace: .zero)
                let attempts = reader.attempts
                // The last state is the end of the work: no run can follow.
                #expect(await states.value.isStopped)
                #expect(reader.attempts == attempts)
            }
        }
    }

    private let start = ContinuousClock.now

    private func visit(_ event: Int, at time: Duration) -> Visit {
        Visit(subject: EventReader.subject(event), edition: 1, token: nil, time: start + time)
    }

    private func stream(_ states: [SupervisedWork.State]) -> AsyncStream<SupervisedWork.State> {
        AsyncStream { continuation in
            for state in states { continuation.yield(state) }
            continuation.finish()
        }
    }
}
