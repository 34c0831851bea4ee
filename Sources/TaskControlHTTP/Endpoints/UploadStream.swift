/// A stream that an upload sends: for transports.
public struct UploadStream: Sendable {
    /// The length in bytes, if it is known.
    public let length: Int64?

    let canBeSentAgain: Bool

    /// Makes the stream, unopened.
    public let open: @Sendable () throws -> InputStream
}
