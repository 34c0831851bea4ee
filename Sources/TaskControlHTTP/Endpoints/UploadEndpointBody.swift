public import Foundation

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
    /// ``UploadEndpointBody/Stream``.
    case stream(Stream)

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
        .stream(Stream(length: length, canBeSentAgain: true, open: open))
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
        return .stream(Stream(length: nil, canBeSentAgain: false) { try once.take() })
    }

    /// Whether the body can be sent more than once. `false` for a stream that can be read only once.
    var canBeSentAgain: Bool {
        if case .stream(let stream) = self { stream.canBeSentAgain } else { true }
    }
}

extension UploadEndpointBody {
    /// The body of an upload that is a stream, in the form that an ``HTTPTransport`` receives it: the length of the stream,
    /// and a closure that creates it.
    public struct Stream: Sendable {
        /// The length of the stream in bytes; `nil` if it is not known.
        public let length: Int64?

        let canBeSentAgain: Bool

        /// The closure that creates the stream. The transport calls it each time that the body is sent, and opens the
        /// returned stream.
        public let open: @Sendable () throws -> InputStream
    }
}

/// A stream that can be read once: the first call of `take()` returns the stream, and later calls throw
/// ``UploadStreamConsumed``.
///
/// The type is Sendable because the stream is accessed only under the lock, until one caller has taken it.
final class OneTimeStream: @unchecked Sendable {
    private let lock = NSLock()
    private var stream: InputStream?

    init(_ stream: sending InputStream) {
        self.stream = stream
    }

    func take() throws -> sending InputStream {
        lock.lock()
        defer { lock.unlock() }
        guard let stream = stream.take() else { throw UploadStreamConsumed() }
        return stream
    }
}
