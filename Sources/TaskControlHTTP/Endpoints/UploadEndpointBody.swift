/// The body that an upload sends.
@nonexhaustive
public enum UploadEndpointBody: Sendable {
    /// A body in memory.
    case data(Data)

    /// A regular file, which is read while it is sent. Its length is sent as `Content-Length`. Any other kind of file,
    /// such as a device, a pipe or a folder, fails the upload with ``EndpointError/Reason/request``. To send the content of
    /// a device or a pipe, use ``stream(length:open:)``.
    case file(URL)

    /// A stream, which is read while it is sent. To create this case in an endpoint, call ``stream(length:open:)``, or
    /// `stream(_:)` with an `InputStream`. A type that conforms to ``HTTPTransport`` reads the body from the associated
    /// ``UploadStream``.
    case stream(UploadStream)

    /// Returns a body that is a stream, which is read while it is sent.
    ///
    /// - Parameters:
    ///   - length: The length in bytes, which is sent as `Content-Length`; a stream that has more or fewer bytes fails
    ///     the upload. `nil` if the length is not known: the body is sent in chunks.
    ///   - open: Creates a new stream and returns it unopened. Called from any thread, each time that the body is sent:
    ///     once at first, and again for a retry, for a new credential, and if a server redirects the upload. If it
    ///     throws, the upload fails.
    public static func stream(length: Int64?, open: @escaping @Sendable () throws -> InputStream) -> UploadEndpointBody
    {
        .stream(UploadStream(length: length, canBeSentAgain: true, open: open))
    }

    /// Returns a body that is a stream of unknown length, which is read while it is sent.
    ///
    /// The body can be sent only once. If the request would have to be sent again, for a retry or for a new credential,
    /// the call fails with the error of the first attempt. If a redirect would need the body again, the redirect is not
    /// followed: the call receives the response with the 3xx status. A body of ``stream(length:open:)`` can be sent
    /// again.
    ///
    /// - Parameter stream: The stream, which must not be open yet. No other code may use it afterwards.
    public static func stream(_ stream: sending InputStream) -> UploadEndpointBody {
        let once = OneTimeStream(stream)
        return .stream(UploadStream(length: nil, canBeSentAgain: false) { try once.take() })
    }

    /// Whether the body can be sent more than once. `false` for a stream that can be read only once.
    var canBeSentAgain: Bool {
        if case .stream(let stream) = self { stream.canBeSentAgain } else { true }
    }
}
