/// The body that an upload sends.
@nonexhaustive
public enum UploadEndpointBody: Sendable {
    /// A body in memory.
    case data(Data)

    /// A regular file, which is read while it is sent. Its length is sent as `Content-Length`. Any other kind of file,
    /// such as a device, a pipe or a folder, fails the upload with ``HTTPError/Reason/request``: use
    /// ``stream(length:open:)``.
    case file(URL)

    /// A stream, created by one of the two functions of that name: for transports.
    case stream(UploadStream)

    /// Returns a body that is a stream, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - length: In bytes, if it is known: then it is sent as `Content-Length`, and a stream that has more or less
    ///     fails the upload. `nil`: the body is sent in chunks.
    ///   - open: Makes the stream, unopened. Called each time that the body is sent: again for a retry, for a new
    ///     token, and where a server redirects the upload.
    public static func stream(length: Int64?, open: @escaping @Sendable () throws -> InputStream) -> UploadEndpointBody
    {
        .stream(UploadStream(length: length, canBeSentAgain: true, open: open))
    }

    /// Returns a body that is a stream of unknown length, which is read while it is sent, and can be sent once: a request that would have to be
    /// sent again fails with the error of the first time. A body of ``stream(length:open:)`` can be sent again.
    ///
    /// - Parameter stream: Unopened; no other code uses it from then on.
    public static func stream(_ stream: sending InputStream) -> UploadEndpointBody {
        let once = OneTimeStream(stream)
        return .stream(UploadStream(length: nil, canBeSentAgain: false) { try once.take() })
    }

    /// Whether there is more of it when it has been sent.
    var canBeSentAgain: Bool {
        if case .stream(let stream) = self { stream.canBeSentAgain } else { true }
    }
}
