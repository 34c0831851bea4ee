import Testing

@testable import fleet

@Suite struct NightTests {
    private static let limit = Duration.seconds(5)

    /// Returns a night in which A is killed at step 2 of 4, B continues, and C, which finds the job done, has no tenure.
    private func usualNight() -> Night {
        var night = Night(steps: 4, killStep: 2)
        _ = night.receive(.elected(token: 3), from: "A", at: .seconds(1))
        #expect(night.receive(.begin(token: 3), from: "A", at: .seconds(1)) == .reply(.written([]), to: "A"))
        #expect(night.receive(.write(step: 1, token: 3), from: "A", at: .seconds(2)) == .reply(.accepted, to: "A"))
        #expect(night.receive(.write(step: 2, token: 3), from: "A", at: .seconds(3)) == .kill("A"))
        night.ended("A", at: .seconds(3))
        _ = night.receive(.elected(token: 5), from: "B", at: .seconds(6))
        #expect(night.receive(.begin(token: 5), from: "B", at: .seconds(6)) == .reply(.written([1, 2]), to: "B"))
        for step in 3...4 { _ = night.receive(.write(step: step, token: 5), from: "B", at: .seconds(6)) }
        _ = night.receive(.resigned(token: 5, .finishedTheJob), from: "B", at: .seconds(7))
        night.ended("B", at: .seconds(7))
        night.ended("C", at: .seconds(8))
        return night
    }

    private func failures(_ night: Night) -> [String] {
        night.claims(takeoverLimit: Self.limit).filter { !$0.holds }.map(\.line)
    }

    @Test func allClaimsHoldForTheUsualNight() {
        let night = usualNight()
        #expect(failures(night) == [])
        #expect(night.takeover == .seconds(3))
        #expect(
            night.timeline == [
                "  worker  token    from      to  steps   ended",
                "  A           3  1.00 s  3.00 s  1 to 2  the process was killed (kill -9)",
                "  B           5  6.00 s  7.00 s  3 to 4  the job was finished",
            ]
        )
    }

    @Test func theLedgerRefusesAnOlderToken() {
        var night = usualNight()
        let late = night.receive(.write(step: 3, token: 3), from: "A", at: .seconds(8))
        #expect(late == .reply(.refused(highest: 5), to: "A"))
        #expect(night.receive(.begin(token: 4), from: "A", at: .seconds(8)) == .reply(.refused(highest: 5), to: "A"))
        #expect(night.ledger.refusals == 2)
        #expect(failures(night) == [])
    }

    @Test func aStepThatIsWrittenTwiceFailsAClaim() {
        var night = usualNight()
        _ = night.receive(.write(step: 3, token: 9), from: "C", at: .seconds(8))
        #expect(failures(night).count == 1)
        #expect(failures(night)[0].hasPrefix("✗ the job ran once"))
    }

    @Test func aStepThatIsMissingFailsAClaim() {
        #expect(failures(Night(steps: 1, killStep: nil)).count == 1)
    }

    @Test func aTakeoverThatIsLateOrMissingFailsAClaim() {
        let night = usualNight()
        #expect(night.claims(takeoverLimit: .milliseconds(2_999)).filter { !$0.holds }.count == 1)
        var alone = Night(steps: 2, killStep: 2)
        _ = alone.receive(.elected(token: 3), from: "A", at: .seconds(1))
        for step in 1...2 { _ = alone.receive(.write(step: step, token: 3), from: "A", at: .seconds(2)) }
        #expect(failures(alone) == ["✗ another worker took over within 5.00 s of the kill"])
    }

    @Test func tenuresThatOverlapFailAClaim() {
        var night = Night(steps: 1, killStep: nil)
        _ = night.receive(.elected(token: 3), from: "A", at: .seconds(1))
        _ = night.receive(.write(step: 1, token: 3), from: "A", at: .seconds(1))
        _ = night.receive(.elected(token: 5), from: "B", at: .seconds(2))
        _ = night.receive(.resigned(token: 3, .finishedTheJob), from: "A", at: .seconds(3))
        _ = night.receive(.resigned(token: 5, .failed("no paper")), from: "B", at: .seconds(3))
        #expect(failures(night) == ["✗ no tenure began before the one before it had ended"])
    }

    @Test func aTokenThatDoesNotIncreaseFailsAClaim() {
        var night = usualNight()
        _ = night.receive(.elected(token: 4), from: "C", at: .seconds(9))
        _ = night.receive(.resigned(token: 4, .failed("no paper")), from: "C", at: .seconds(9))
        #expect(failures(night) == ["✗ each holder had a higher token: 3 < 5 < 4"])
    }

    @Test func aWorkerThatFailsOrVanishesFailsAClaim() {
        var night = usualNight()
        _ = night.receive(.failed("no file"), from: "C", at: .seconds(9))
        #expect(failures(night) == ["✗ a worker has failed: C: no file"])
        var vanished = usualNight()
        _ = vanished.receive(.elected(token: 10), from: "C", at: .seconds(9))
        vanished.ended("C", at: .seconds(10))
        #expect(failures(vanished).count == 1)
    }

    @Test func messagesAreOneLine() throws {
        let report = Report(.resigned(token: 3, .lost("two\nlines")))
        let line = String(decoding: try Lines.encode(report), as: UTF8.self)
        #expect(line.split(separator: "\n").count == 1)
        #expect(try Lines.decode(line) == report)
    }
}
