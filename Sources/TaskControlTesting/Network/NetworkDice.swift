/// Draws the fate of each request. Pure: the seed decides.
///
/// Each request takes the same count of numbers, whether it is lost or not, so that a test which changes one probability
/// keeps the rest of its sequence.
struct NetworkDice {
    enum Fault: Hashable {
        case requestLost, connectionLostBefore, connectionLostAfter, replyLost
    }

    struct Throw: Hashable {
        let request: Duration
        let reply: Duration
        let fault: Fault?
        /// The time between the request and its duplicate.
        let duplicate: Duration?
    }

    /// The behavior of one direction.
    struct Link: Hashable {
        var latency: ClosedRange<Duration>
        var faults: SimulatedNetwork.Faults
    }

    private var generator: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    /// - Parameters:
    ///   - there: The link of the request.
    ///   - back: The link of the reply.
    mutating func next(there: Link, back: Link) -> Throw {
        let (request, reply, duplicate) = (delay(there), delay(back), delay(there))
        let isRequestLost = happens(there.faults.lostRequests)
        let isError = happens(there.faults.errors)
        let isErrorBefore = happens(0.5)
        let isReplyLost = happens(back.faults.lostReplies)
        let isDuplicated = happens(there.faults.duplicates)
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
        generator.unit() < probability
    }

    private mutating func delay(_ link: Link) -> Duration {
        generator.duration(in: link.latency)
    }
}

/// The standard library may change how it derives these from a generator's numbers; the decisions of a seed should stay.
extension SeededGenerator {
    /// A number in `0..<1`, from the 53 high bits that a `Double` holds.
    mutating func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A duration of a range, evenly distributed.
    mutating func duration(in range: ClosedRange<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound) * unit()
    }

    /// A number in `0..<count`.
    mutating func index(below count: Int) -> Int {
        Int(next() % UInt64(count))
    }
}
