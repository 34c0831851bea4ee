import Testing

@testable import fleet

/// The claims fail for a night that does not keep them.
@Suite struct NightTests {
    /// Returns a night in which A is killed at step 2 of 4, B continues, and C, which finds the job done, has no tenure.
    private func usualNight() -> Night {
        var night = Night(steps: 4, killStep: 2)
        var kills: [Bool] = []
        kills.append(night.receive(.elected, 3, from: "A", at: .seconds(1)))
        kills.append(night.receive(.wrote(1), 3, from: "A", at: .seconds(2)))
        kills.append(night.receive(.wrote(2), 3, from: "A", at: .seconds(3)))
        #expect(kills == [false, false, true])
        night.ended("A", at: .seconds(3))
        _ = night.receive(.elected, 5, from: "B", at: .seconds(6))
        for step in 3...4 { _ = night.receive(.wrote(step), 5, from: "B", at: .seconds(6)) }
        _ = night.receive(.resigned("the job was finished"), 5, from: "B", at: .seconds(7))
        night.ended("B", at: .seconds(7))
        night.ended("C", at: .seconds(8))
        night.ledger.lines = [(1, 3), (2, 3), (3, 5), (4, 5)].map { Ledger.Line(step: $0, token: $1) }
        return night
    }

    private func failures(_ night: Night, limit: Duration = .seconds(5)) -> [String] {
        night.claims(takeoverLimit: limit).filter { !$0.holds }.map(\.text)
    }

    @Test func allClaimsHoldForTheUsualNight() {
        let night = usualNight()
        #expect(failures(night) == [])
        #expect(night.takeover == .seconds(3))
        #expect(night.timeline.last == "  worker B, token 5, 6.00 s to 7.00 s: steps 3 to 4, the job was finished")
    }

    @Test func aStepThatIsWrittenTwiceOrNeverFailsAClaim() {
        var (twice, never) = (usualNight(), usualNight())
        twice.ledger.lines.append(Ledger.Line(step: 3, token: 9))
        never.ledger.lines.removeLast()
        for night in [twice, never] { #expect(failures(night).map { $0.prefix(16) } == ["the job ran once"]) }
    }

    @Test func aTakeoverThatIsLateOrMissingFailsAClaim() {
        #expect(failures(usualNight(), limit: .milliseconds(2_999)).count == 1)
        var alone = Night(steps: 1, killStep: 1)
        _ = alone.receive(.elected, 3, from: "A", at: .seconds(1))
        _ = alone.receive(.wrote(1), 3, from: "A", at: .seconds(2))
        alone.ledger.lines = [Ledger.Line(step: 1, token: 3)]
        #expect(failures(alone) == ["another worker took over within 5.00 s of the kill"])
    }

    @Test func tenuresThatOverlapOrTokensThatDoNotIncreaseFailAClaim() {
        var overlapping = usualNight()
        _ = overlapping.receive(.elected, 7, from: "C", at: .milliseconds(6_900))
        _ = overlapping.receive(.resigned("no paper"), 7, from: "C", at: .seconds(9))
        #expect(failures(overlapping) == ["no tenure began before the one before it had ended"])
        var decreasing = usualNight()
        _ = decreasing.receive(.elected, 4, from: "C", at: .seconds(9))
        _ = decreasing.receive(.resigned("no paper"), 4, from: "C", at: .seconds(9))
        #expect(failures(decreasing) == ["each holder had a higher token: 3 < 5 < 4"])
    }

    @Test func aWorkerThatFailsOrVanishesFailsAClaim() {
        var (failed, vanished) = (usualNight(), usualNight())
        _ = failed.receive(.failed("no file"), 0, from: "C", at: .seconds(9))
        #expect(failures(failed) == ["a worker has failed: C: no file"])
        _ = vanished.receive(.elected, 10, from: "C", at: .seconds(9))
        vanished.ended("C", at: .seconds(10))
        #expect(failures(vanished).count == 1)
    }
}
