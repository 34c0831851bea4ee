/// How far an exchange has come, in bytes of the bodies.
public struct TransferProgress: Sendable, Hashable {
    /// How much of the request's body has been sent.
    public var sent: Int64

    /// How much of it there is, if that is known.
    public var expectedToSend: Int64?

    /// How much of the response's body has arrived, as it came out of its content encoding.
    public var received: Int64

    /// How much of it there is, if the server said so, and did not compress it.
    public var expectedToReceive: Int64?

    /// Nothing yet, unless it is given.
    ///
    /// - Parameters:
    ///   - sent: How much of the request's body has been sent.
    ///   - expectedToSend: How much of it there is, if that is known.
    ///   - received: How much of the response's body has arrived.
    ///   - expectedToReceive: How much of it there is, if that is known.
    public init(
        sent: Int64 = 0,
        expectedToSend: Int64? = nil,
        received: Int64 = 0,
        expectedToReceive: Int64? = nil
    ) {
        self.sent = sent
        self.expectedToSend = expectedToSend
        self.received = received
        self.expectedToReceive = expectedToReceive
    }

    /// Between 0 and 1, if it is known how much there is to send.
    public var fractionSent: Double? { TransferProgress.fraction(sent, of: expectedToSend) }

    /// Between 0 and 1, if it is known how much there is to receive.
    public var fractionReceived: Double? { TransferProgress.fraction(received, of: expectedToReceive) }

    private static func fraction(_ done: Int64, of all: Int64?) -> Double? {
        all.map { $0 <= 0 ? 1 : min(1, Double(done) / Double($0)) }
    }
}
