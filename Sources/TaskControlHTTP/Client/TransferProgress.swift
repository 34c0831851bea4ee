/// The progress of a request and its response: the numbers of bytes of their bodies that have been transferred.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes of the request's body that have been sent.
    public var sent: Int64

    /// The length of the request's body in bytes; `nil` if it is not known.
    public var expectedToSend: Int64?

    /// The number of bytes of the response's body that have arrived, counted after decompression.
    public var received: Int64

    /// The length of the response's body in bytes; `nil` if it is not known, because the server did not send it or
    /// compressed the body.
    public var expectedToReceive: Int64?

    /// Creates a progress. By default, nothing has been sent or received.
    ///
    /// - Parameters:
    ///   - sent: The number of bytes of the request's body that have been sent.
    ///   - expectedToSend: The length of the request's body in bytes; `nil` if it is not known.
    ///   - received: The number of bytes of the response's body that have arrived, counted after decompression.
    ///   - expectedToReceive: The length of the response's body in bytes; `nil` if it is not known.
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

    /// The fraction of the request's body that has been sent, between 0 and 1; `nil` if the length of the body is not
    /// known. 1 for an empty body.
    public var fractionSent: Double? { TransferProgress.fraction(sent, of: expectedToSend) }

    /// The fraction of the response's body that has arrived, between 0 and 1; `nil` if the length of the body is not
    /// known. 1 for an empty body.
    public var fractionReceived: Double? { TransferProgress.fraction(received, of: expectedToReceive) }

    private static func fraction(_ done: Int64, of all: Int64?) -> Double? {
        all.map { $0 <= 0 ? 1 : min(1, Double(done) / Double($0)) }
    }
}
