import Foundation

/// A line of a worker: something that it has done or seen.
struct Record: Codable, Hashable, Sendable {
    enum Kind: String, Codable, Sendable {
        /// The body of a lease has begun.
        case entered
        /// The lease was valid at this time or later.
        case valid
        /// The body has ended.
        case left
        /// The lease was lost.
        case lost
        /// An element is about to be written.
        case attempted
        /// An element was written.
        case added
        /// The store has refused an element: the lease was over.
        case refused
        /// The store has failed.
        case failed
    }

    enum Workload: String, Codable, Sendable, CaseIterable {
        /// The workload that takes only the lease.
        case mutex
        /// A set in a file, which is read and written under the lease.
        case file
        /// A set in the store, which is read and written under the lease.
        case store
    }

    var kind: Kind
    var workload: Workload
    /// The number of the process.
    var worker: Int
    /// The monotonic clock of the machine, in nanoseconds.
    var time: UInt64
    /// The fencing token of the lease.
    var token: Int64?
    /// The element.
    var element: String?
    /// The reason of a failure.
    var text: String?

    /// The present, on a clock that all processes of the machine share.
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
