/// The stream of an upload body, for the implementation of a transport.
public struct UploadStream: Sendable {
    /// The length in bytes; `nil` if it is not known.
    public let length: Int64?

    let canBeSentAgain: Bool

    /// The closure that creates the stream, which the transport must open. Called each time that the body is sent.
    public let open: @Sendable () throws -> InputStream
}
