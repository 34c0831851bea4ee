import Testing

@testable import outage

@Suite(.timeLimit(.minutes(15)))
struct TimelineTests {
    private let outage = Duration.seconds(10)..<Duration.seconds(20)

    @Test func whoAnswersFromTheEndOfTheOutageOnHasRecoveredAtOnce() {
        #expect(timeline { $0 >= 20 }.recovery(after: outage) == 0)
    }

    @Test func whoNeverAnswersAgainHasNot() {
        #expect(timeline { $0 < 10 }.recovery(after: outage) == nil)
    }

    @Test func aRecoveryThatDoesNotLastDoesNotCount() {
        // One second of ten may be without an answer.
        #expect(timeline { (20..<30).contains($0) || $0 >= 45 }.recovery(after: outage) == 24)
        #expect(timeline { $0 >= 20 && $0 < 58 }.recovery(after: outage) == nil)
    }

    @Test func oneRequestInTenMayBeLost() {
        #expect(timeline { $0 >= 20 && $0 % 10 != 5 }.recovery(after: outage) == 0)
        #expect(timeline { $0 >= 20 && $0 % 10 != 5 && $0 % 10 != 6 }.recovery(after: outage) == nil)
    }

    /// Returns a timeline with a request in each second.
    private func timeline(_ isAnswered: (Int) -> Bool) -> Timeline {
        var timeline = Timeline(until: .seconds(60))
        for second in 0..<60 { timeline.requestCame(at: .seconds(second), isAnswered: isAnswered(second)) }
        return timeline
    }
}
