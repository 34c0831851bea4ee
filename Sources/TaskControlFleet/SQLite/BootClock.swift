#if SQLite
internal import Foundation
internal import TaskControl

#if canImport(Darwin)
internal import Darwin
#endif

/// The time since this machine was started, which all of its processes share, and the identity of that start.
///
/// The clock counts the time that the machine sleeps, and cannot be set: the end of a lease means the same to all processes, until the machine is
/// started again.
struct BootClock: Sendable {
    /// Returns the nanoseconds since the machine was started.
    let now: @Sendable () -> Int64
    /// Returns the identity of the start of the machine; `nil`: this process may not read it.
    let boot: @Sendable () -> String?

    /// The clock of this machine: `CLOCK_BOOTTIME` of Linux, `CLOCK_MONOTONIC_RAW` of Apple's platforms.
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
