internal import Foundation

/// The seeds that a test runs: all of them in an optimized build (`scripts/tests schedules`), a few of them in a debug build.
///
/// A debug build runs a window of the seeds, and each process draws another window, so that many short runs cover what a single run leaves out.
/// All windows lie within the seeds of the optimized build. A process prints the number of its window, and `TASKCONTROL_SEED_WINDOW=17` repeats
/// the run. The command that a failed simulation prints needs no window: it names the seed.
///
/// `TASKCONTROL_SCHEDULES=10` runs ten times as many seeds. `TASKCONTROL_SCHEDULES=1/4` makes an optimized build run a window too, a quarter of the
/// seeds.
package enum Schedules {
    /// Returns the seeds of a test.
    ///
    /// - Parameters:
    ///   - count: The number of seeds in an optimized build, counted from 0.
    ///   - width: The number of seeds in a debug build.
    package static func seeds(_ count: UInt64, inDebug width: UInt64) -> Range<UInt64> {
        let all = count * times
        return window(window, of: fullSize(max(1, all / parts), inDebug: width * times), within: all)
    }

    /// Returns the cases of a test that takes seconds for each: all of them in an optimized build, and a window of them in a debug build.
    package static func cases<Case>(_ all: [Case], inDebug width: Int) -> [Case] {
        let cases = fullSize(
            0..<UInt64(all.count),
            inDebug: window(window, of: UInt64(width), within: UInt64(all.count))
        )
        return cases.map { all[Int($0)] }
    }

    /// Whether a test runs all seeds, and so sees all that they show.
    package static var areAll: Bool { fullSize(parts == 1, inDebug: false) }

    /// Returns a window of the seeds from 0 to a bound; after the last window the first one follows again.
    package static func window(_ number: UInt64, of width: UInt64, within count: UInt64) -> Range<UInt64> {
        let first = number % max(1, count / width) * width
        return first..<first + width
    }

    /// Into how many windows an optimized build divides the seeds, and how many times as many seeds there are.
    private static let (parts, times): (UInt64, UInt64) = {
        let text = variable("TASKCONTROL_SCHEDULES") ?? "1"
        let isPart = text.hasPrefix("1/")
        guard let number = UInt64(isPart ? text.dropFirst(2) : text[...]), number > 0 else {
            preconditionFailure("TASKCONTROL_SCHEDULES=\(text) is neither a number nor a part such as 1/4")
        }
        return isPart ? (number, 1) : (1, number)
    }()

    private static let window: UInt64 = {
        // This many seeds from the first one on.
        if variable("TASKCONTROL_SEEDS") != nil { return 0 }
        if let given = number("TASKCONTROL_SEED_WINDOW") { return given }
        let isWindow = fullSize(parts > 1, inDebug: true)
        guard isWindow else { return 0 }
        let drawn = UInt64.random(in: 0..<1_000)
        let line = "Seed window \(drawn): TASKCONTROL_SEED_WINDOW=\(drawn) runs the same seeds again.\n"
        FileHandle.standardError.write(Data(line.utf8))
        return drawn
    }()

    private static func number(_ name: String) -> UInt64? {
        guard let text = variable(name) else { return nil }
        guard let number = UInt64(text) else { preconditionFailure("\(name)=\(text) is not a number") }
        return number
    }

    private static func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}
