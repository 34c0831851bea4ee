import Testing

@testable import outage

@Suite(.timeLimit(.minutes(15)))
struct NumberTests {
    @Test func numbersAreWrittenForPeople() {
        #expect(
            [0, 7, 999, 1_000, 1_234_567, -1_234].map(\.grouped) == ["0", "7", "999", "1,000", "1,234,567", "-1,234"]
        )
        #expect(1_238.26.rounded(toPlaces: 1) == "1,238.3")
        #expect(0.04.rounded(toPlaces: 2) == "0.04")
        #expect(66.67.rounded(toPlaces: 0) == "67")
        #expect(0.105.inPercent == "10.5 %")
        #expect([72.0, 72.05, 1_000.5].map(\.text) == ["72", "72.1", "1000.5"])
    }

    @Test func aLogarithmicScaleHasRoundTicks() {
        let scale = Scale.logarithmic(from: 16, upTo: 1_238)
        #expect(scale.ticks == [10, 30, 100, 300, 1_000])
        #expect(scale.position(of: 10) == 0)
        #expect(scale.position(of: 1_238) == 1)
        #expect(scale.position(of: 0) == 0)
    }

    @Test func aLinearScaleBeginsAtZero() {
        let scale = Scale.linear(upTo: 74.7)
        #expect(scale.ticks == [0, 20, 40, 60])
        #expect(scale.position(of: 37.35) == 0.5)
    }
}
