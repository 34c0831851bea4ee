import NeighborLibrary
import TaskControlTesting
import Testing

import class NeighborLibrary.TestClock

/// The plain name can be left to the other module, such as in tests that were written for its clock.
@Suite(.timeLimit(.minutes(15)))
struct TestClockOfTheNeighborTests {
    @Test func thePlainNameIsTheClockOfTheOtherModule() async throws {
        let clock = TestClock<Duration>()
        let gate = Gate()
        gate.open()
        try await gate.wait()
        try await clock.sleep(for: .seconds(60))
        #expect(clock.now == TestClock<Duration>.Instant())
    }
}
