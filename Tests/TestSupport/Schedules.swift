internal import Foundation

/// The seeds that a test runs: all of them in an optimized build (`scripts/check-schedules`), a few of them in a debug build.
///
/// A debug build runs a window of the seeds, and each process draws another window, so that many short runs cover what a single run leaves out.
/// All windows lie within the seeds of the optimized build. A process prints the number of its window, and `TASKCONTROL_SEED_WINDOW=17` repeats
/// the run. The command that a failed simulation prints needs no window: it names the seed.
///
/// `TASKCONTROL_SCHEDULES=10` runs ten times as many seeds.
package enum Schedules {
    /// Returns the seeds of a test.
    ///
    /// - Parameters:
    ///   - count: The number of seeds in an optimized build, counted from 0.
    ///   - width: The number of seeds in a debug build.
    package static func seeds(_ count: UInt64, inDebug width: UInt64) -> Range<UInt64> {
        window(window, of: fullSize(count, inDebug: width) * factor, within: count * factor)
    }

    /// Returns a window of the seeds from 0 to a bound; after the last window the first one follows again.
    package static func window(_ number: UInt64, of width: UInt64, within count: UInt64) -> Range<UInt64> {
        let first = number % max(1, count / width) * width
        return first..<first + width
    }

    private static let factor = number("TASKCONTROL_SCHEDULES") ?? 1

    private static let window: UInt64 = {
        // This many seeds from the first one on.
        if variable("TASKCONTROL_SEEDS") != nil { return 0 }
        if let given = number("TASKCONTROL_SEED_WINDOW") { return given }
        let drawn = fullSize(0, inDebug: UInt64.random(in: 0..<1_000))
        #if DEBUG
        let line = "Seed window \(drawn): TASKCONTROL_SEED_WINDOW=\(drawn) runs the same seeds again.\n"
        FileHandle.standardError.write(Data(line.utf8))
        #endif
        return drawn
    }()

    private static func number(_ name: String) -> UInt64? {
        guard let text = variable(name) else { return nil }
        guard let number = UInt64(text) else { preconditionFailure("\(name)=\(text) is not a number") }
        return number
    }

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}
