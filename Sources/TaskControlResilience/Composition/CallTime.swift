internal import TaskControl

/// The time of a call, and the part of it in which attempts were *under way*: not in a wait for a part, nor in a delay
/// between attempts. Pure: a value that receives the time.
///
/// A call that is one attempt from its beginning to its end needs no clock: its time is that of the attempt.
struct CallTime: Sendable {
    /// Whether the call is measured.
    private(set) var isMeasured = false
    /// Whether an attempt has begun.
    private(set) var hasBegun = false
    /// Whether the time of the service has ended before the call.
    private var isFrozen = false
    /// The number of attempts that are under way, which is more than one with hedges.
    private var attempts: Int32 = 0
    /// The time at which the call began.
    private var began = Duration.zero
    /// The time in which attempts were under way; while one is, less the time at which it began.
    private var sum = Duration.zero

    /// Begins to measure the call, unless that has begun.
    @inline(__always)
    mutating func begin(at now: Duration) {
        if !isMeasured { (isMeasured, began) = (true, now) }
    }

    /// Records the first attempt of a call that has not waited: it began with the call.
    mutating func attemptBeganWithCall() { attemptBegan(at: began) }

    /// - Parameter now: The current time. Ignored if the call is not measured.
    mutating func attemptBegan(at now: Duration) {
        hasBegun = true
        if isFrozen { return }
        if attempts == 0 { sum -= now }
        attempts += 1
    }

    /// - Parameter now: The current time. Ignored if the call is not measured.
    mutating func attemptEnded(at now: Duration) {
        if isFrozen { return }
        attempts -= 1
        if attempts == 0 { sum += now }
    }

    /// Ends the time of the service: what follows depends on the length of a body.
    mutating func freeze(at now: Duration) {
        if attempts > 0 { sum += now }
        (attempts, isFrozen) = (0, true)
    }

    /// Returns how long attempts were under way; `nil` if the call is not measured, or has made no attempt.
    func underWay(at now: Duration) -> Duration? {
        isMeasured && hasBegun ? attempts == 0 ? sum : sum + now : nil
    }

    /// Returns whether attempts were under way for at least half of the time of a call that ends now.
    func isFairShare(at now: Duration) -> Bool {
        guard hasBegun, let underWay = underWay(at: now) else { return hasBegun }
        return underWay * 2 >= now - began
    }
}
