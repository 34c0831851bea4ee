internal import Foundation

/// How many schedules a test runs: all of them in an optimized build (`scripts/check-schedules`), a fiftieth in a debug build,
/// which is ten times as slow. `TASKCONTROL_SCHEDULES=10` runs ten times as many.
package enum Schedules {
    package static func all(_ count: UInt64) -> Range<UInt64> {
        #if DEBUG
        return 0..<max(10, count / 50) * factor
        #else
        return 0..<count * factor
        #endif
    }

    private static let factor = UInt64(ProcessInfo.processInfo.environment["TASKCONTROL_SCHEDULES"] ?? "") ?? 1
}
