/// What an upload sends.
public enum UploadEndpointBody: Sendable {
    /// What is in memory.
    case data(Data)

    /// A file, which is read while it is sent. Its length is sent as `Content-Length`.
    case file(URL)

    /// A stream, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - length: In bytes, if it is known: then it is sent as `Content-Length`, and a stream that has more or less fails the upload.
    ///     `nil`: the body is sent in chunks.
    ///   - open: Makes the stream, unopened. Called each time that the body is sent: again for a retry, for a new token, and where a server
    ///     redirects the upload.
    case stream(length: Int64?, open: @Sendable () throws -> InputStream)

    /// A stream of unknown length that can be sent once: an upload that would have to be sent again fails with what came of the first time.
    ///
    /// ``stream(length:open:)`` can be sent again.
    public static func stream(_ stream: sending InputStream) -> UploadEndpointBody {
        let once = OneTimeStream(stream)
        return .stream(length: nil) { try once.take() }
    }
}
