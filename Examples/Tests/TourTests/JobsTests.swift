import Testing

@testable import tour

struct JobsTests {
    @Test func aPollAsksLessOftenAndSurvivesAnError() async throws {
        let naive = try await JobsChapter.export(Exports.waitNaively)
        #expect(naive.requests == 61 && !naive.survivesAnError)
        let polled = try await JobsChapter.export(Exports.wait)
        #expect(polled.requests == 10 && polled.survivesAnError)
    }

    @Test func aPollEndsAtItsLimit() async throws {
        let (endless, limited) = try await JobsChapter.exportThatIsNeverDone()
        #expect(endless == 61)
        #expect(limited == "running, after 6 calls")
    }

    @Test @MainActor func aScreenIsReleasedWhileItsPollWaits() async throws {
        #expect(try await JobsChapter.isKept { $0.startNaively($1, asked: $2) })
        #expect(try await !JobsChapter.isKept { $0.start($1, asked: $2) })
    }

    @Test func oneMachineWritesTheReport() async throws {
        #expect(try await JobsChapter.nights() == (5, 1))
    }

    @Test func aScheduleFollowsTheClock() {
        #expect(JobsChapter.changeOfClocks() == ("03:00", "02:00"))
    }
}
