#if canImport(FoundationNetworking)
internal import Foundation

/// The delegate of a session on Linux, where Foundation reports data only to the delegate of the session. Passes the
/// calls on to the exchange of each task.
final class SessionListener: NSObject, URLSessionDataDelegate {
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
#endif
