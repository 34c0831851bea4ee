#if canImport(FoundationNetworking)

internal import Foundation

/// The delegate of a session on Linux, where Foundation reports data only to the delegate of the session. Passes the
/// calls on to the exchange of each task.
final class SessionListener: NSObject, URLSessionDataDelegate {
    let user: (any URLSessionDelegate)?
    private let end: SessionEnd?

    init(_ user: (any URLSessionDelegate)?, _ end: SessionEnd?) {
        self.user = user
        self.end = end
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        user?.urlSession(session, didBecomeInvalidWithError: error)
        end?.didEnd()
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let exchange = dataTask.delegate as? SessionExchange
        exchange?.urlSession(session, dataTask: dataTask, didReceive: response, completionHandler: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        (dataTask.delegate as? SessionExchange)?.urlSession(session, dataTask: dataTask, didReceive: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        (task.delegate as? SessionExchange)?.urlSession(session, task: task, didCompleteWithError: error)
    }
}

/// An operation queue that runs the delegate calls of a session at once, on the session's work queue, inside the call
/// of libcurl.
///
/// So delegate calls cannot accumulate, come after the end of their task, or run at the same time as the session's own
/// work. They must not block, or call the session with `sync`.
///
/// It is Sendable, like its superclass, since it adds no state.
final class SynchronousQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#else
internal import Foundation

/// The delegate of a session whose user has none.
final class SessionListener: NSObject, URLSessionDelegate {
    private let end: SessionEnd

    init(_ end: SessionEnd) { self.end = end }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { end.didEnd() }
}
#endif
