import NeighborLibrary
import TaskControlTesting
import Testing

import class TaskControlTesting.TestClock

/// An import of one declaration decides what a plain name means in its file.
@Suite(.timeLimit(.minutes(15)))
struct TestClockByImportTests {
    @Test func thePlainNameIsTheImportedClock() async throws {
        let clock = TestClock(advancesAutomatically: true)
        try await clock.sleep(for: .seconds(60))
        #expect(clock.now.offset == .seconds(60))
    }

    @Test func theOtherClockIsNamedWithItsModule() async throws {
        let clock = NeighborLibrary::TestClock<Duration>()
        try await clock.sleep(for: .seconds(60))
        #expect(clock.now == NeighborLibrary.TestClock<Duration>.Instant())
    }
}
