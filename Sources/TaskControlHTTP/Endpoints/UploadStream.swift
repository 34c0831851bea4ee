/// A stream that an upload sends: for transports.
public struct UploadStream: Sendable {
    /// The length in bytes, if it is known.
    public let length: Int64?

    let canBeSentAgain: Bool

    /// Creates the stream, which is not open yet.
    public let open: @Sendable () throws -> InputStream
}
