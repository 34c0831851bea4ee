/// The planned faults and their times: the same each time that the seed is the same.
///
/// Which request is hit depends on what it asks and for the how-manieth time, not on when it comes: clients that ask at the same time are
/// treated alike in every run.
struct FaultPlan: Sendable {
    enum Fault: Sendable, Hashable, CaseIterable {
        /// 503 with `Retry-After`; nothing is done.
        case unavailable
        /// All is done as asked, and the connection breaks off in the middle of the reply.
        case droppedReply
        /// The reply takes its time.
        case delay
    }

    /// Of the requests, between 0 and 1.
    var share: Double
    var seed: UInt64
    /// The value of `Retry-After`, in seconds.
    var retryAfter = 1
    /// How long a ``Fault/delay`` is.
    var delay: Duration = .milliseconds(300)

    static let none = FaultPlan(share: 0, seed: 0)

    /// - Parameters:
    ///   - request: The identity of the request.
    ///   - count: The number of earlier requests of that identity.
    func fault(for request: String, count: Int) -> Fault? {
        var checksum = Checksum(request.utf8)
        checksum.update("\(seed)/\(count)".utf8)
        let number = Self.mixed(checksum.value)
        guard Double(number >> 11) / Double(1 << 53) < share else { return nil }
        return Fault.allCases[Int(Self.mixed(number) % UInt64(Fault.allCases.count))]
    }

    /// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): inputs that are alike get numbers that are not.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
