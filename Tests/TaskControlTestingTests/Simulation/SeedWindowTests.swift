import TestSupport
import Testing

/// The seeds of a debug build.
@Suite(.tags(.machine))
struct SeedWindowTests {
    @Test(
        arguments: [(width: 5, count: 1_000), (width: 100, count: 10_000), (width: 7, count: 50)] as [(UInt64, UInt64)]
    )
    func windowsCoverAllSeedsButARest(width: UInt64, count: UInt64) {
        let number = count / width
        let windows = (0..<number).map { Schedules.window($0, of: width, within: count) }
        #expect(windows.flatMap { $0 } == Array(0..<number * width))
        #expect(
            Schedules.window(number, of: width, within: count) == windows[0],
            "the first window follows the last one"
        )
    }

    @Test func aWindowOfAllSeedsIsTheOnlyOne() {
        #expect(Schedules.window(17, of: 40, within: 40) == 0..<40)
    }
}
