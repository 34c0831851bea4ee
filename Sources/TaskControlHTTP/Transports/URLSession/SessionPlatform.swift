internal import Foundation

#if canImport(FoundationNetworking)

typealias SessionUpload = UploadReader

/// Functions for Foundation's `URLSession` on Linux, which is not Apple's implementation, and uses libcurl.
enum SessionPlatform {
    /// The number of received and unread bytes above which the task is suspended. `nil`: the task is never suspended,
    /// because on Linux `suspend()` closes the connection, and `resume()` sends the request again.
    static let bytesBeforePause: Int? = nil

    static func session(
        _ configuration: URLSessionConfiguration,
        _ delegate: (any URLSessionDelegate)?,
        _ end: SessionEnd?
    ) -> URLSession {
        let configuration = configuration.copy() as! URLSessionConfiguration
        // A session with a delegate stores nothing in its cache here, so a look-up never succeeds. Credentials are
        // looked up only for authentication challenges, which end the exchange.
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = sanitized(configuration.timeoutIntervalForRequest)
        return URLSession(
            configuration: configuration,
            delegate: SessionListener(delegate, end),
            delegateQueue: SynchronousQueue()
        )
    }

    /// Calls a closure with the session that sends the request of an exchange.
    ///
    /// libcurl sends a request again if a kept connection ends without an answer, although the server may have executed
    /// the request. If the request has a body, ``newStream(for:)`` can prevent this. A request with an empty body, or
    /// with none, that must not be repeated is sent by a session of its own, and so on a new connection.
    static func withSession(for exchange: SessionExchange, _ shared: URLSession, _ body: (URLSession) -> Void) {
        let isEmpty = exchange.upload.map { $0.length == 0 } ?? true
        guard isEmpty, !exchange.request.isRepeatable else { return body(shared) }
        let session = session(shared.configuration, nil, nil)
        body(session)
        session.finishTasksAndInvalidate()
    }

    static func upload(of request: HTTPTransportRequest) throws -> SessionUpload? {
        try request.openBody()
    }

    static func task(for exchange: SessionExchange, in session: URLSession) -> URLSessionTask {
        var request = exchange.request.request
        // libcurl cannot decode every user and password.
        if let credential = request.url?.basicCredential, request.value(forHTTPHeaderField: "Authorization") == nil {
            request.setValue(credential, forHTTPHeaderField: "Authorization")
        }
        // libcurl's schemes are in lower case.
        if let url = request.url?.absoluteString, let scheme = request.url?.scheme, scheme != scheme.lowercased() {
            request.url = URL(string: scheme.lowercased() + url.dropFirst(scheme.count))
        }
        // 60 is the default of a request: the time limit of the session's configuration then applies.
        if request.timeoutInterval != 60 { request.timeoutInterval = sanitized(request.timeoutInterval) }
        if let upload = exchange.upload {
            // Every body is a stream, since only a stream can be sent again, or refuse that: libcurl sends a request
            // again if a kept connection turns out to be closed. Foundation then traps if the body is a file, and waits
            // for the response to an incomplete request if the body is data.
            request.httpBodyStream = ReaderStream(upload, exchange)
            // A header with a blank value makes libcurl omit the header. Otherwise libcurl would send
            // `Transfer-Encoding: chunked` even if there is a length, and Foundation would add the `Content-Type` of a
            // form to every body.
            if let length = upload.length {
                request.setValue(String(length), forHTTPHeaderField: "Content-Length")
                request.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
            }
            if request.value(forHTTPHeaderField: "Content-Type") == nil {
                request.setValue(" ", forHTTPHeaderField: "Content-Type")
            }
        }
        return session.dataTask(with: request)
    }

    /// Opens the body again, for libcurl, which is about to send the request again on a new connection.
    ///
    /// - Throws: `URLError` with the code `networkConnectionLost` if the request must not be repeated.
    static func newStream(for exchange: SessionExchange) throws -> InputStream? {
        guard exchange.request.isRepeatable else {
            throw URLError(.networkConnectionLost, text: "The server closed the connection without an answer.")
        }
        return try upload(of: exchange.request).map { ReaderStream($0, exchange) }
    }

    /// Returns the error for a failure that the session reports, with the code that the failure has on Apple's
    /// platforms. Foundation on Linux has no codes for certificates that are not trusted, and returns only the text of
    /// libcurl, such as "SSL certificate problem: self-signed certificate".
    static func failure(_ error: any Error) -> any Error {
        guard let error = error as? URLError, error.code == .unknown,
            let text = (error.userInfo[NSLocalizedDescriptionKey] as? String)?.lowercased(),
            text.contains("certificate")
        else { return error }
        let code: URLError.Code =
            if text.contains("has expired") {
                .serverCertificateHasBadDate
            } else if text.contains("not yet valid") {
                .serverCertificateNotYetValid
            } else if text.contains("self-signed") || text.contains("self signed") || text.contains("local issuer") {
                .serverCertificateHasUnknownRoot
            } else {
                .serverCertificateUntrusted
            }
        return URLError(code, userInfo: error.userInfo)
    }

    /// Returns a time limit that Foundation on Linux can use: whole seconds, since it drops fractions, and at most a
    /// year, since it traps if the milliseconds overflow.
    private static func sanitized(_ interval: TimeInterval) -> TimeInterval {
        interval.isNaN ? 60 : min(max(interval.rounded(.up), 1), 31_536_000)
    }
}
#else
/// The opened body of an upload. Only a stream is opened by ``URLSessionTransport``: Apple's session opens files
/// itself.
typealias SessionUpload = OneTimeStream

/// Functions for Apple's `URLSession` that are different from those for Foundation's on Linux.
enum SessionPlatform {
    /// The number of received and unread bytes above which the task is suspended. The task is resumed when at most half
    /// of this number is unread.
    static let bytesBeforePause: Int? = 1 << 20

    static func session(
        _ configuration: URLSessionConfiguration,
        _ delegate: (any URLSessionDelegate)?,
        _ end: SessionEnd
    ) -> URLSession {
        // The delegate of the user is the only one that learns of the end.
        if delegate != nil { end.didEnd() }
        // This delegate receives the challenges and metrics, which the exchange, as the task's delegate, does not.
        return URLSession(
            configuration: configuration,
            delegate: delegate ?? SessionListener(end),
            delegateQueue: nil
        )
    }

    static func withSession(for exchange: SessionExchange, _ shared: URLSession, _ body: (URLSession) -> Void) {
        body(shared)
    }

    static func upload(of request: HTTPTransportRequest) throws -> SessionUpload? {
        guard case .stream(let stream) = request.body else { return nil }
        return OneTimeStream(try stream.open())
    }

    static func task(for exchange: SessionExchange, in session: URLSession) -> URLSessionTask {
        var request = exchange.request.request
        switch exchange.request.body {
        case nil: return session.dataTask(with: request)
        case .data(let data): return session.uploadTask(with: request, from: data)
        case .file(let url): return session.uploadTask(with: request, fromFile: url)
        case .stream(let stream):
            if let length = stream.length { request.setValue(String(length), forHTTPHeaderField: "Content-Length") }
            return session.uploadTask(withStreamedRequest: request)
        }
    }

    static func failure(_ error: any Error) -> any Error { error }

    static func newStream(for exchange: SessionExchange) throws -> InputStream? {
        // Returns the stream that is open already, and later a new one each time that the body is sent again.
        if let first = try? exchange.upload?.take() { return first }
        return try upload(of: exchange.request)?.take()
    }
}
#endif
