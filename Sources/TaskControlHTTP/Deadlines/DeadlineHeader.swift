public import TaskControl

/// A header in which a client sends how much time is left until its deadline.
///
/// The header contains a duration and not an instant, because the clocks of two machines differ. The server counts the
/// duration from when it receives the request, so the server's deadline is later than the client's, by the time that
/// the request takes to arrive.
///
/// There is no standard for such a header: a client and a server must use the same one. Set
/// ``ClientPolicies/deadlineHeader`` in the client, and create the deadline with
/// ``TaskControl/Deadline/init(remaining:in:clock:)`` in the server.
public struct DeadlineHeader: Sendable, Hashable {
    /// The format of the value of a header.
    enum Format: Sendable, Hashable {
        /// A whole number of milliseconds, such as `1500`.
        case milliseconds
        /// The format of `grpc-timeout`: at most eight digits and a unit, such as `1500m`. The units are `H` (hours),
        /// `M` (minutes), `S` (seconds), `m` (milliseconds), `u` (microseconds) and `n` (nanoseconds). The section
        /// *Requests* of the specification *gRPC over HTTP/2* defines this format.
        case grpc
    }

    /// The name of the header.
    public let name: String
    /// The format of the header's value.
    let format: Format

    /// Creates a header whose value is a whole number of milliseconds.
    ///
    /// - Parameter name: The name of the header, in upper or lower case.
    public init(name: String) { self.init(name: name, format: .milliseconds) }

    private init(name: String, format: Format) {
        self.name = name
        self.format = format
    }

    /// The header `Request-Timeout`, in milliseconds.
    public static let requestTimeout = DeadlineHeader(name: "Request-Timeout")
    /// The header `grpc-timeout`, in the format of gRPC: at most eight digits and a unit, such as `1500m`.
    public static let grpcTimeout = DeadlineHeader(name: "grpc-timeout", format: .grpc)
    /// The header `x-envoy-expected-rq-timeout-ms`, which Envoy's router sends to the servers behind it.
    public static let envoyExpectedTimeout = DeadlineHeader(name: "x-envoy-expected-rq-timeout-ms")

    /// Returns the value of the header for the time that is left until a deadline. The time is rounded down to a whole
    /// number of units, so that the server does not assume a later deadline.
    ///
    /// - Parameter remaining: The time that is left until the deadline. A duration that is shorter than the shortest
    ///   one of the format (1 millisecond, or 1 nanosecond for ``grpcTimeout``), also zero or a negative one, counts as
    ///   the shortest one. A duration of more than 100 years counts as 100 years.
    public func value(for remaining: Duration) -> String {
        let remaining = max(min(remaining, Self.longest), .nanoseconds(1))
        switch format {
        case .milliseconds: return "\(max(1, remaining.quotient(by: .milliseconds(1))))"
        case .grpc:
            // The finest unit for which eight digits are enough. 100 years are 876,600 hours.
            let (unit, count) = Self.units.lazy.map { ($0.name, remaining.quotient(by: $0.length)) }.first {
                $0.1 < 100_000_000
            }!
            return "\(max(1, count))\(unit)"
        }
    }

    /// Returns the duration that a value of the header contains; `nil` if the value does not have the format.
    ///
    /// - Parameter value: The value of the header. A duration of more than 100 years counts as 100 years.
    public func duration(from value: String) -> Duration? {
        // A header that was sent twice.
        let value = value.contains(",") ? HeaderField.single(value) : value
        switch format {
        case .milliseconds: return Self.number(value).map { Self.duration($0, .milliseconds(1)) }
        case .grpc:
            guard value.utf8.count <= 9, let unit = Self.units.first(where: { value.last == $0.name }),
                let number = Self.number(value.dropLast())
            else { return nil }
            return Self.duration(number, unit.length)
        }
    }

    private static let longest = Duration.seconds(100 * 365.25 * 86_400)

    private static let units: [(name: Character, length: Duration)] = [
        ("n", .nanoseconds(1)), ("u", .microseconds(1)), ("m", .milliseconds(1)), ("S", .seconds(1)),
        ("M", .seconds(60)),
        ("H", .seconds(3_600)),
    ]

    /// Reads a number that consists of digits only, without a sign; `nil` if the text is not such a number. A number
    /// that is too large for `Int64` counts as the largest `Int64`.
    private static func number(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(text) ?? .max
    }

    private static func duration(_ number: Int64, _ unit: Duration) -> Duration {
        number >= longest.quotient(by: unit) ? longest : unit * number
    }
}

extension Duration {
    /// Returns the whole number of times that a unit fits into this duration. Both must be at most 100 years, so that their nanoseconds fit into 64
    /// bits.
    fileprivate func quotient(by unit: Duration) -> Int64 { nanoseconds / unit.nanoseconds }

    private var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension Deadline {
    /// Creates the deadline of a request that a server has received, from the value of the request's header. The time
    /// until the deadline is counted from this call.
    ///
    /// ```swift
    /// let header = DeadlineHeader.requestTimeout
    /// if let deadline = Deadline(remaining: request.headers[header.name], in: header) {
    ///     return try await withDeadline(deadline) { try await answer(request) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value of the header; `nil` if the request has no such header.
    ///   - header: The header, which determines the format of the value.
    ///   - clock: The clock that measures the time until the deadline.
    /// - Returns: The deadline; `nil` if `value` is `nil` or does not have the format of the header. In both cases,
    ///   handle the request without a deadline. A value in another format is also reported to the observers of
    ///   diagnostics.
    public init?(remaining value: String?, in header: DeadlineHeader, clock: some Clock<Duration> = ContinuousClock()) {
        guard let value else { return nil }
        guard let duration = header.duration(from: value) else {
            Diagnostics.emit(TaskEvent(.http, .unreadableDeadline, detail: header.name))
            return nil
        }
        self.init(in: duration, clock: clock)
    }
}
