/// Draws what becomes of each request. Pure: the seed decides.
///
/// Each request takes the same count of numbers, whatever becomes of it, so that a test which changes one probability
/// keeps the rest of its sequence.
struct NetworkDice {
    enum Fault: Hashable {
        case requestLost, connectionLostBefore, connectionLostAfter, replyLost
    }

    struct Throw: Hashable {
        let request: Duration
        let reply: Duration
        let fault: Fault?
        /// How long after the request its duplicate arrives.
        let duplicate: Duration?
    }

    private let latency: ClosedRange<Duration>
    private let faults: SimulatedNetwork.Faults
    private var generator: SeededGenerator

    init(seed: UInt64, latency: ClosedRange<Duration>, faults: SimulatedNetwork.Faults) {
        self.latency = latency
        self.faults = faults
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> Throw {
        let (request, reply, duplicate) = (delay(), delay(), delay())
        let isRequestLost = happens(faults.lostRequests)
        let isError = happens(faults.errors)
        let isErrorBefore = happens(0.5)
        let isReplyLost = happens(faults.lostReplies)
        let isDuplicated = happens(faults.duplicates)
        let fault: Fault? =
            if isRequestLost {
                .requestLost
            } else if isError {
                isErrorBefore ? .connectionLostBefore : .connectionLostAfter
            } else if isReplyLost {
                .replyLost
            } else {
                nil
            }
        return Throw(request: request, reply: reply, fault: fault, duplicate: isDuplicated ? duplicate : nil)
    }

    private mutating func happens(_ probability: Double) -> Bool {
        unit() < probability
    }

    private mutating func delay() -> Duration {
        latency.lowerBound + (latency.upperBound - latency.lowerBound) * unit()
    }

    /// In `0..<1`, from the 53 high bits that a `Double` holds: the standard library may change how it does that.
    private mutating func unit() -> Double {
        Double(generator.next() >> 11) * 0x1p-53
    }
}
