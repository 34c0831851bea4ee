/// The statuses of the responses that an endpoint accepts: a response with any other status fails the call.
///
/// ```swift
/// var acceptedStatuses: AcceptedStatuses { [200, 404] }          // only these
/// var acceptedStatuses: AcceptedStatuses { .successful.or(404) } // 200 to 299, and 404
/// var acceptedStatuses: AcceptedStatuses { .all }                // every status
/// ```
///
/// Two policies of the client fail a call even if the status is accepted: an ``EndpointAuthenticator``, if the server rejects
/// its credential with the status 401; and a retry policy, if it allows the request to be repeated and the last attempt
/// ends with one of ``HTTPRetryPolicy/statuses``.
public struct AcceptedStatuses: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var range: Range<Int>
    private var others: Set<Int> = []

    /// Creates a set of the statuses in a range.
    ///
    /// - Parameter range: The range of statuses, such as `200..<400`.
    public init(_ range: Range<Int>) {
        self.range = range
    }

    /// Creates a set that contains only the given statuses.
    public init(arrayLiteral statuses: Int...) {
        range = 0..<0
        others = Set(statuses)
    }

    /// The statuses of success, 200 to 299 (RFC 9110, 15.3).
    public static let successful = AcceptedStatuses(200..<300)

    /// All statuses.
    public static let all = AcceptedStatuses(Int.min..<Int.max)

    /// Returns a set that contains the statuses of this set and the given statuses.
    public func or(_ statuses: Int...) -> AcceptedStatuses {
        var union = self
        union.others.formUnion(statuses)
        return union
    }

    /// Returns whether this set contains a status.
    ///
    /// - Complexity: O(1).
    public func contains(_ status: Int) -> Bool { range.contains(status) || others.contains(status) }
}
