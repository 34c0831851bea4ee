#if SQLite
internal import Foundation
internal import TaskControl

#if canImport(Darwin)
internal import Darwin
#endif

/// The clock of a ``SQLiteStore``: the time since the machine was started, which is the same for all of its processes, and an identity of this start
/// of the machine (a boot ID).
///
/// The clock continues while the machine sleeps, and cannot be set: all processes agree on the end of a lease, until the machine is restarted.
struct BootClock: Sendable {
    /// The closure that returns the nanoseconds since the machine was started.
    let now: @Sendable () -> Int64
    /// The closure that returns the boot ID of the machine, which is different after each restart; `nil` if this process is not permitted to read the
    /// ID.
    let boot: @Sendable () -> String?

    /// The clock of this machine: `CLOCK_BOOTTIME` on Linux, `CLOCK_MONOTONIC_RAW` on Apple platforms.
    static let system = BootClock(now: { continuousTime().wholeNanoseconds }, boot: readBoot)

    private static func readBoot() -> String? {
        #if canImport(Darwin)
        // A UUID as text, and a zero.
        var text = [CChar](repeating: 0, count: 64)
        var size = text.count
        guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
        let boot = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
        guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8) else {
            return nil
        }
        let boot = text.trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
        return boot.isEmpty ? nil : boot
    }
}
#endif
