/// A service with a limited capacity that fails for a while: pure, given the time of each request.
///
/// The service works through its queue in order, and admits a request only if the request can be answered soon. Refusing a request costs work as
/// well: a connection, its encryption, reading the request. (A backend that mostly refuses requests can be overloaded by the refusals alone: B. Beyer
/// et al., *Site Reliability Engineering*, 2016, chapter 21.) So the more requests it receives beyond its capacity, the fewer it answers:
///
///     offered in a second       answered
///     up to c                   all
///     from c to c / r           (c - r · offered) / (1 - r)
///     more than c / r           none: all work goes into refusals
///
/// where *c* is the capacity, and *r* is the cost of a refusal.
struct Service: Sendable {
    enum Reply: Equatable, Sendable {
        case answer(at: Duration)
        case refusal
    }

    /// The number of requests that the service can answer in a second.
    let capacity: Double
    /// The time in which the service answers no request.
    let outage: Range<Duration>
    /// The work of a refusal, as a fraction of the work of an answer.
    let refusalCost = 0.2
    /// The amount of queued work above which the service refuses a request, since its answer would come too late. Half a second; a small service,
    /// whose load is more random, admits at least twenty requests.
    let longestWait: Duration
    /// The amount of queued work above which a request is lost before the service can refuse it, and costs nothing.
    var longestQueue: Duration { longestWait * 2 }

    /// The time at which the admitted work is done.
    private var idleFrom = Duration.zero

    init(capacity: Double, outage: Range<Duration>) {
        self.capacity = capacity
        self.outage = outage
        longestWait = max(.milliseconds(500), .seconds(20 / capacity))
    }

    /// Decides about a request, which must not be before the last one.
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
