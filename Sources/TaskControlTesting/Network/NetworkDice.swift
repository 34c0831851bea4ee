internal import TaskControl

/// The source of the latencies and the faults of requests, which are drawn from a seed. A value without side effects.
///
/// Each request draws the same number of random numbers, whether or not the request is lost. Therefore a test that
/// changes one probability keeps the other decisions of the seed.
struct NetworkDice {
    enum Fault: Hashable {
        case requestLost, connectionLostBefore, connectionLostAfter, replyLost
    }

    struct Throw: Hashable {
        let request: Duration
        let reply: Duration
        let fault: Fault?
        /// The time between the arrivals of the request and its duplicate; `nil` if the request is not duplicated.
        let duplicate: Duration?
        /// The travel times that are drawn for messages that are not late.
        let usual: Latencies

        struct Latencies: Hashable {
            let request: Duration
            let reply: Duration
        }

        var hasFault: Bool {
            fault != nil || duplicate != nil || usual != Latencies(request: request, reply: reply)
        }

        /// The usual latencies, without a fault or a duplicate.
        var withoutFault: Self {
            Self(request: usual.request, reply: usual.reply, fault: nil, duplicate: nil, usual: usual)
        }
    }

    /// The latency and the faults of messages in one direction.
    struct Link: Hashable {
        var latency: ClosedRange<Duration>
        var faults: SimulatedNetwork.Faults
    }

    private var generator: SeededGenerator
    /// The generator that decides which messages are late: networks without late messages keep the numbers of their seeds.
    private var lateness: SeededGenerator

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        lateness = SeededGenerator(seed: seed ^ 0x9FB2_1C65_1E98_DF25)
    }

    /// Draws the latencies of the next request and its reply, and decides whether a fault happens, and which.
    ///
    /// - Parameters:
    ///   - there: The link on which the request travels.
    ///   - back: The link on which the reply travels.
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
        let lateDuplicate = late(duplicate, there)
        return Throw(
            request: late(request, there),
            reply: late(reply, back),
            fault: fault,
            duplicate: isDuplicated ? lateDuplicate : nil,
            usual: Throw.Latencies(request: request, reply: reply)
        )
    }

    /// Returns the travel time of a message: the one that was drawn or, if the message is late, ten times the longest one.
    private mutating func late(_ drawn: Duration, _ link: Link) -> Duration {
        lateness.unit() < link.faults.lateMessages ? link.latency.upperBound.saturatingMultiplied(by: 10) : drawn
    }

    private mutating func happens(_ probability: Double) -> Bool {
        generator.unit() < probability
    }

    private mutating func delay(_ link: Link) -> Duration {
        generator.duration(in: link.latency)
    }
}
