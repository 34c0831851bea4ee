/// The planned faults and their times: the same each time that the seed is the same.
///
/// Whether a request is hit depends on its content and on the number of earlier requests with this content, not on its time: clients that send
/// requests at the same time have the same results in every run.
struct FaultPlan: Sendable {
    enum Fault: Sendable, Hashable, CaseIterable {
        /// The server replies 503 with `Retry-After`, and does nothing.
        case unavailable
        /// The server handles the request, and the connection breaks off in the middle of the reply.
        case droppedReply
        /// The reply comes after a delay.
        case delay
    }

    /// The share of the requests that a fault hits, between 0 and 1.
    var share: Double
    var seed: UInt64
    /// The value of `Retry-After`, in seconds.
    var retryAfter = 1
    /// The duration of a ``Fault/delay``.
    var delay: Duration = .milliseconds(300)

    static let none = FaultPlan(share: 0, seed: 0)

    /// Returns the fault of a request; `nil` for none.
    ///
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

    /// Mixes the bits of a number, so that similar inputs have different results: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
