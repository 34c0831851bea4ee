#if canImport(FoundationNetworking)
typealias SessionUpload = UploadReader

/// Where Foundation's session on Linux differs: it is another program, over libcurl.
enum SessionPlatform {
    /// Nothing is paused: `suspend()` takes the transfer away from libcurl, which closes the connection, and `resume()` begins anew.
    static let bytesBeforePause: Int? = nil

    static func session(_ configuration: URLSessionConfiguration, _ delegate: (any URLSessionDelegate)?) -> URLSession {
        let configuration = configuration.copy() as! URLSessionConfiguration
        // With a delegate nothing is ever cached here, so a cache is only asked in vain. And credentials are looked up for challenges
        // alone, which an exchange does not wait for.
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = sanitized(configuration.timeoutIntervalForRequest)
        return URLSession(
            configuration: configuration,
            delegate: SessionListener(delegate),
            delegateQueue: SynchronousQueue()
        )
    }

    static func upload(of request: HTTPTransportRequest) throws -> SessionUpload? {
        try request.body.map(UploadReader.init)
    }

    static func task(for exchange: Exchange, in session: URLSession) -> URLSessionTask {
        var request = exchange.request.request
        // As it is by default, it says nothing: then the session's counts.
        if request.timeoutInterval != 60 { request.timeoutInterval = sanitized(request.timeoutInterval) }
        if let upload = exchange.upload {
            // All bodies as streams, since only those can be sent again: libcurl does so where a kept connection turns out to be closed,
            // and Foundation then traps (a file), or waits for an answer to half a request (data).
            request.httpBodyStream = ReaderStream(upload, exchange)
            // A header with a blank is how libcurl is told to leave it out. Otherwise it sends a stream in chunks even if there is a
            // length, and Foundation calls every body a form.
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

    static func newStream(for exchange: Exchange) throws -> InputStream? {
        try upload(of: exchange.request).map { ReaderStream($0, exchange) }
    }

    /// The error as Apple's session has it. Foundation on Linux knows no code for what is wrong with a certificate, and passes on libcurl's text:
    /// "SSL certificate problem: self-signed certificate", "SSL: no alternative certificate subject name matches target host name …".
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

    /// Seconds, whole, and not too many: Foundation on Linux cuts off what is after the point, and traps where milliseconds overflow.
    private static func sanitized(_ interval: TimeInterval) -> TimeInterval {
        interval.isNaN ? 60 : min(max(interval.rounded(.up), 1), 31_536_000)
    }
}

/// Runs what the session has to say where the session says it: on its work queue, within libcurl's call.
///
/// Nothing is in between then that could pile up, come after the end, or run beside what the session does. So nothing of what is said may
/// wait, or call the session with `sync`.
///
/// Sendable, as its superclass: it adds no state.
private final class SynchronousQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

/// Passes on what the session says of a task: of data, Foundation on Linux tells only the session's delegate.
private final class SessionListener: NSObject, URLSessionDataDelegate {
    let user: (any URLSessionDelegate)?

    init(_ user: (any URLSessionDelegate)?) {
        self.user = user
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        user?.urlSession(session, didBecomeInvalidWithError: error)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let exchange = dataTask.delegate as? Exchange
        exchange?.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        (dataTask.delegate as? Exchange)?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        (task.delegate as? Exchange)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

/// What an upload sends, as Foundation on Linux reads it: on the session's work queue.
private final class ReaderStream: InputStream {
    private let reader: UploadReader
    private weak let exchange: Exchange?
    private var status = Stream.Status.notOpen

    init(_ reader: UploadReader, _ exchange: Exchange) {
        self.reader = reader
        self.exchange = exchange
        super.init(data: Data())
    }

    override func open() { status = .open }

    override func close() { status = .closed }

    override var streamStatus: Stream.Status { status }

    override var streamError: (any Error)? { nil }

    /// Always: Foundation takes "no" for the end, also where a stream has failed or is slow, and sends half a body as a whole one.
    override var hasBytesAvailable: Bool { true }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard let exchange, exchange.isOpen else { return -1 }
        do {
            let count = try reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: maxLength))
            if count > 0 { exchange.didSend(reader.sent, of: reader.length) }
            return count
        } catch {
            exchange.fail(error)
            return -1
        }
    }
}
#else
/// Of what is sent with a task, the session opens files.
typealias SessionUpload = OneTimeStream

/// Where Foundation's session on Linux differs.
enum SessionPlatform {
    /// A task that has so much for its reader is suspended until half of it is read.
    static let bytesBeforePause: Int? = 1 << 20

    static func session(_ configuration: URLSessionConfiguration, _ delegate: (any URLSessionDelegate)?) -> URLSession {
        // What an exchange does not hear, as its task's delegate, this one does: challenges and metrics.
        URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    static func upload(of request: HTTPTransportRequest) throws -> SessionUpload? {
        guard case .stream(let stream) = request.body else { return nil }
        return OneTimeStream(try stream.open())
    }

    static func task(for exchange: Exchange, in session: URLSession) -> URLSessionTask {
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

    static func newStream(for exchange: Exchange) throws -> InputStream? {
        // The one that is open, and a new one for each time that the body is sent again.
        if let first = try? exchange.upload?.take() { return first }
        return try upload(of: exchange.request)?.take()
    }
}
#endif
