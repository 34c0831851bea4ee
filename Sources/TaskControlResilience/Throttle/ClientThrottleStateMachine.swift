/// The state of a ``ClientThrottle``: decides from the outcomes of recent calls how many calls of an overloaded service are made. Pure: a value
/// without a lock, task or closure.
///
/// The formula of "Handling Overload" (Site Reliability Engineering, chapter 21): a call is refused with the probability
/// max(0, (requests − K × accepts) / (requests + 1)).
///
/// A request is counted when it begins, in the bucket of that time, so that a service that hangs is noticed before its calls end, and a call that takes
/// longer than the window does not count as an accept without a request. A request that is younger than two buckets and has not ended is left
/// out: otherwise the first calls of a client would be refused before one of them can have been accepted.
///
/// Invariants, checked by `checkInvariants()` after each step of the tests:
/// 1. The accepts and the running requests together are not more than the requests.
/// 2. The probability is at least 0 and less than 1.
struct ClientThrottleStateMachine: Sendable {
    struct Configuration: Sendable {
        var multiplier: Double
        var window: Duration
        var buckets = 60
        /// The time after which a call is admitted in any case, counted from the last admission.
        var probeInterval = Duration.seconds(1)
        /// The length of an outage, as a share of the window: when the service accepts a call after it has accepted
        /// none for that long, the history is discarded.
        var silence = 1.0 / 12
    }

    private struct Counts: AdditiveArithmetic {
        static let zero = Counts()

        var requests = 0
        var accepts = 0
        var running = 0

        static func + (a: Self, b: Self) -> Self {
            Self(requests: a.requests + b.requests, accepts: a.accepts + b.accepts, running: a.running + b.running)
        }

        static func - (a: Self, b: Self) -> Self {
            Self(requests: a.requests - b.requests, accepts: a.accepts - b.accepts, running: a.running - b.running)
        }
    }

    /// The admission of a call, which must be passed to `report(_:of:at:)` with the outcome of the call.
    struct Permit: Sendable {
        /// The number of the bucket in which the call was counted as a request.
        fileprivate let bucket: UInt64
        fileprivate let begun: Duration
        /// The time at which the call before this one was admitted; `nil` if there was none.
        fileprivate let earlier: Duration?
    }

    enum Admission: Sendable {
        case admitted(Permit)
        case refused(retryAfter: Duration)
    }

    private static let youngBuckets = 2

    private let configuration: Configuration
    private let silence: Duration
    private var window: SlidingWindow<Counts>
    private var lastAdmission: Duration?
    private var lastAccept = Duration.zero

    init(_ configuration: Configuration) {
        self.configuration = configuration
        silence = configuration.window * configuration.silence
        window = SlidingWindow(length: configuration.window, buckets: configuration.buckets)
    }

    /// Returns the probability with which the next call is refused. If no call was admitted for the `probeInterval`,
    /// the next call is nevertheless admitted.
    ///
    /// - Parameter now: The current time, counted from the creation of the throttle.
    /// - Complexity: O(1).
    mutating func probability(at now: Duration) -> Double {
        window.move(to: now)
        return probability
    }

    private var probability: Double {
        // The usual case, without the sum of the youngest buckets.
        if Double(window.total.requests) <= configuration.multiplier * Double(window.total.accepts) { return 0 }
        let requests = Double(window.total.requests - window.latest(Self.youngBuckets).running)
        return max(0, (requests - configuration.multiplier * Double(window.total.accepts)) / (requests + 1))
    }

    /// Admits a call if the probability of a refusal is zero.
    ///
    /// - Returns: The admission; `nil` if a random number must decide: the caller must then call `admit(at:draw:)`.
    /// - Complexity: O(1).
    mutating func admitWhileHealthy(at now: Duration) -> Permit? {
        window.move(to: now)
        return probability > 0 ? nil : admit(at: now)
    }

    /// Admits or refuses a call.
    ///
    /// - Parameters:
    ///   - now: The current time, counted from the creation of the throttle.
    ///   - draw: A random number from 0 to 1, excluding 1. The call is refused only if this number is less than the
    ///     probability of a refusal.
    /// - Complexity: O(1).
    mutating func admit(at now: Duration, draw: Double) -> Admission {
        window.move(to: now)
        let nextProbe = lastAdmission.map { $0 + configuration.probeInterval } ?? now
        guard draw < probability, now < nextProbe else { return .admitted(admit(at: now)) }
        window.add(Counts(requests: 1), to: window.current)
        return .refused(retryAfter: nextProbe - now)
    }

    private mutating func admit(at now: Duration) -> Permit {
        window.add(Counts(requests: 1, running: 1), to: window.current)
        defer { lastAdmission = now }
        return Permit(bucket: window.current, begun: now, earlier: lastAdmission)
    }

    /// Records the outcome of a call.
    ///
    /// - Complexity: O(1).
    mutating func report(_ outcome: CallOutcome, of permit: Permit, at now: Duration) {
        window.move(to: now)
        switch outcome {
        case .healthy: accept(permit, at: now)
        case .failed: window.add(Counts(running: -1), to: permit.bucket)
        case .unknown:
            // A caller that leaves soon gives no information. The service has had time to answer a caller that leaves later.
            let isYoung = permit.bucket + UInt64(Self.youngBuckets) > window.current
            window.add(Counts(requests: isYoung ? -1 : 0, running: -1), to: permit.bucket)
            // A call that was not made, such as one that a breaker refused, does not test the service: the next call
            // must be admitted instead.
            if isYoung, lastAdmission == permit.begun { lastAdmission = permit.earlier }
        }
    }

    private mutating func accept(_ permit: Permit, at now: Duration) {
        defer { lastAccept = max(lastAccept, now) }
        guard now - lastAccept >= silence, probability > 0 else {
            return window.add(Counts(accepts: 1, running: -1), to: permit.bucket)
        }
        // An outage is over. The formula alone would refuse most calls until the outage has left the window.
        window.removeAll()
        window.add(Counts(requests: 1, accepts: 1), to: window.current)
    }
}

extension ClientThrottleStateMachine {
    /// Traps if an invariant does not hold.
    func checkInvariants() {
        window.checkInvariants()
        let (total, young) = (window.total, window.latest(Self.youngBuckets))
        precondition(young.running >= 0 && total.running >= young.running, "running requests are counted once")
        precondition(total.accepts >= 0, "accepts are counted once")
        precondition(total.accepts + total.running <= total.requests, "only a request is accepted or runs")
        precondition((0..<1).contains(probability), "the probability is one")
    }
}
