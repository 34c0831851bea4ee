/// A service with a limited capacity that fails for a while: pure, given the time of each request.
///
/// It works through its queue in order, and admits a request only if that can be answered soon. To refuse one costs work as well: a
/// connection, its encryption, the reading of what is asked. (A backend that mostly refuses can be overloaded by that alone: B. Beyer et
/// al., *Site Reliability Engineering*, 2016, chapter 21.) So the more it is offered beyond its capacity, the less it answers:
///
///     offered in a second       answered
///     up to c                   all
///     from c to c / r           (c - r · offered) / (1 - r)
///     more than c / r           none: all work goes into refusals
///
/// with *c* for its capacity, and *r* for what a refusal costs.
struct Service: Sendable {
    enum Reply: Equatable, Sendable {
        case answer(at: Duration)
        case refusal
    }

    /// How many requests it can answer in a second.
    let capacity: Double
    /// The time in which it answers no request.
    let outage: Range<Duration>
    /// The work of a refusal, as a part of that of an answer.
    let refusalCost = 0.2
    /// With more work than this before it, a request is refused: its answer would come too late. Half a second; a small service, for
    /// which chance means more, takes on twenty requests at least.
    let longestWait: Duration
    /// With more work than this before it, a request does not even get as far as to be refused, and costs nothing.
    var longestQueue: Duration { longestWait * 2 }

    /// When the work that has been taken on is done.
    private var idleFrom = Duration.zero

    init(capacity: Double, outage: Range<Duration>) {
        self.capacity = capacity
        self.outage = outage
        longestWait = max(.milliseconds(500), .seconds(20 / capacity))
    }

    /// - Parameter now: Not before that of the last call.
    mutating func receive(at now: Duration) -> Reply {
        if outage.contains(now) { return .refusal }
        let start = max(idleFrom, now)
        if start - now <= longestWait {
            idleFrom = start + .seconds(1 / capacity)
            return .answer(at: idleFrom)
        }
        if start - now <= longestQueue { idleFrom = start + .seconds(refusalCost / capacity) }
        return .refusal
    }
}
