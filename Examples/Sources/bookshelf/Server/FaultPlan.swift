/// The planned faults: the same each time that the seed is the same.
///
/// Whether a request is hit depends on its content and on the number of earlier requests with this content, not on its time: clients that send
/// requests at the same time have the same results in every run.
struct FaultPlan: Sendable {
    enum Fault: Sendable, Hashable {
        /// The server replies 503 with `Retry-After`, and does nothing.
        case unavailable
        /// The server handles the request, and the connection breaks off in the middle of the reply.
        case droppedReply
    }

    /// The share of the requests that a fault hits, between 0 and 1.
    var share = 0.0
    var seed: UInt64 = 1
    /// The value of `Retry-After`, in seconds.
    var retryAfter = 1

    /// Returns the fault of a request, which has `count` earlier ones of its content; `nil` for none.
    func fault(for request: String, count: Int) -> Fault? {
        // FNV-1a, and the finalizer of SplitMix64 (Steele, Lea, Flood 2014), with which similar requests have different results.
        var bits = "\(request)\(seed)/\(count)".utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        guard Double(bits >> 11) / Double(1 << 53) < share else { return nil }
        return bits.isMultiple(of: 2) ? .unavailable : .droppedReply
    }
}
