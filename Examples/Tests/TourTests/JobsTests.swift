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

    @Test @MainActor func fourUploadsRunAtOnceAndEachRowEnds() async throws {
        #expect(try await JobsChapter.uploads(NaiveUploadRows.self, atOnce: 12) == .init(mostOpen: 12, stale: 3))
        #expect(try await JobsChapter.uploads(LimitedUploadRows.self, atOnce: 4) == .init(mostOpen: 4, stale: 0))
    }

    @Test func anAutosaveInterruptsNoSave() async throws {
        #expect(try await JobsChapter.autosave(NaiveAutosave.self) == .init(interrupted: 1, written: [2]))
        #expect(try await JobsChapter.autosave(PatientAutosave.self) == .init(interrupted: 0, written: [1, 2]))
    }

    @Test func aRefusedFormKnowsItsFields() async {
        let form = RefusedForm()
        #expect(await form.fieldsNaively() == [])
        #expect(await form.fields() == ["title", "year"])
        let text = await form.text()
        #expect(text.contains("year") && !text.contains("hush"))
    }
}
