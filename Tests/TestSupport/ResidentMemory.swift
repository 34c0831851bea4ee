internal import Foundation

/// How much memory of this process is there, where the kernel tells (Linux); elsewhere zero.
package func residentKilobytes() -> Int {
    #if os(Linux)
    guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
        let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { fatalError("/proc/self/statm cannot be read.") }
    return pages * sysconf(Int32(_SC_PAGESIZE)) / 1_024
    #else
    return 0
    #endif
}
