import NeighborLibrary
import TaskControlTesting
import Testing

/// Without an import of one declaration, each use names its module.
@Suite(.timeLimit(.minutes(15)))
struct TestClockBySelectorTests {
    @Test func eachClockIsNamedWithItsModule() async throws {
        let clock = TaskControlTesting::TestClock(advancesAutomatically: true)
        let neighbor = NeighborLibrary::TestClock<Duration>()
        try await clock.sleep(for: .seconds(60))
        try await neighbor.sleep(for: .seconds(60))
        #expect(clock.now.offset == .seconds(60))
        #expect(neighbor.now == NeighborLibrary::TestClock<Duration>.Instant())
    }

    @Test func aPeriodNamesAModuleInEveryVersionOfSwift() {
        let clock: TaskControlTesting.TestClock = TaskControlTesting.TestClock()
        #expect(clock.now == TaskControlTesting.TestClock.Instant.zero)
    }
}
