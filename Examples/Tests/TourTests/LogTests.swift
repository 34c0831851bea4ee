import Testing

@testable import tour

/// The facts on which the chapter's claims rest, whatever the seed.
@Suite(.timeLimit(.minutes(15)))
struct LogTests {
    @Test func aLineIsLateIfANewerOneIsBeforeIt() {
        #expect(read("1 synced\n2 tapped\n3 synced\n", of: 3).late == 0)
        #expect(read("1 synced\n3 tapped\n2 synced\n4 synced\n", of: 4).late == 1)
        #expect(read("2 tapped\n3 tapped\n1 synced\n", of: 3).late == 1)
        #expect(read("3 tapped\n1 synced\n2 synced\n", of: 3).late == 2)
    }

    @Test func aLineThatIsLostOrThereTwiceOrSpoiltIsSeen() {
        #expect(read("3 tapped\n1 synced\n2 synced\n", of: 3).isComplete)
        #expect(!read("1 synced\n3 tapped\n", of: 3).isComplete)
        #expect(!read("1 synced\n2 synced\n2 synced\n3 tapped\n", of: 3).isComplete)
        #expect(!read("1 synced\n2 syn3 tapped\n", of: 3).isComplete)
        #expect(!read("1 synced\n2 synced\ntapped\n", of: 3).isComplete)
        #expect(!read("", of: 3).isComplete)
    }

    @Test func anEventIsUrgentOrNotAsTheSeedHasIt() {
        let events = LogChapter.events(1_000, seed: 7)
        #expect(events.map(\.priority) == LogChapter.events(1_000, seed: 7).map(\.priority))
        #expect(events.map(\.number) == Array(1...1_000))
        #expect((400...600).contains(events.count { $0.priority == .high }))
    }

    @Test func theNaiveLogHasLateLinesEachTime() async throws {
        for seed in UInt64(0)..<20 {
            let file = try await LogChapter.write(LogChapter.events(10_000, seed: seed), with: NaiveLog.self)
            #expect(file.late > 0, "seed \(seed)")
            #expect(file.isComplete, "seed \(seed)")
        }
    }

    @Test func theOrderedLogHasNone() async throws {
        for seed in UInt64(0)..<50 {
            let file = try await LogChapter.write(LogChapter.events(1_000, seed: seed), with: OrderedLog.self)
            #expect(file.late == 0, "seed \(seed)")
            #expect(file.isComplete, "seed \(seed)")
        }
    }

    private func read(_ text: String, of expected: Int) -> LogChapter.Measured {
        LogChapter.Measured(text: text, of: expected)
    }
}
