internal import Dispatch
internal import Foundation

/// One request of a `URLSession` and its response. The exchange is the delegate of its task, and passes what the task
/// reports to the reader of the response.
final class SessionExchange: NSObject, URLSessionDataDelegate {
    private typealias Machine = ExchangeStateMachine<HTTPURLResponse, Data>

    private struct State {
        var machine: Machine
        /// The task of the session, from its start to its end; otherwise `nil`. The task retains this object as its
        /// delegate, so it must be released at the end.
        var task: URLSessionTask?
        /// Whether the task is suspended. Accessed only on the task queue.
        var isSuspended = false
        #if !canImport(FoundationNetworking)
        /// The stream that the session reads, and that no other code uses while the task runs; `nil` if there is none.
        var stream: InputStream?
        #endif
    }

    let request: HTTPTransportRequest
    /// The body of the request, opened for reading; `nil` if there is none, or if the session reads it itself.
    let upload: SessionUpload?
    private let taskQueue: DispatchQueue
    private let state: Locked<State>

    /// Creates the exchange of a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - upload: The body of the request, opened for reading; `nil` if there is none, or if the session reads it
    ///     itself.
    ///   - taskQueue: The queue on which tasks are made, cancelled, suspended and resumed.
    init(_ request: HTTPTransportRequest, _ upload: SessionUpload?, taskQueue: DispatchQueue) {
        self.request = request
        self.upload = upload
        self.taskQueue = taskQueue
        state = Locked(State(machine: Machine(limit: SessionPlatform.bytesBeforePause)))
    }

    /// Sends the request, unless the exchange was cancelled before. Called on the task queue.
    func start(in session: URLSession) {
        guard state.withLock({ $0.machine.start() }) else { return }
        let task = SessionPlatform.task(for: self, in: session)
        task.delegate = self
        state.withLock { $0.task = task }
        task.resume()
        perform { $0.didStart() }
    }

    /// Waits for the head of the response.
    ///
    /// - Throws: The error of the session; `CancellationError` if the caller is cancelled.
    func head() async throws -> HTTPURLResponse {
        while true {
            switch state.withLock({ $0.machine.takeHead() }) {
            case .value(let head): return head
            case .failure(let failure): throw failure.error(left: URLError(.cancelled))
            case .wait, .end: await arrivalOrCancellation()
            }
        }
    }

    /// The body of the response, for one reader.
    var body: HTTPResponseBody { HTTPResponseBody { try await self.next() } }

    private func next() async throws -> Data? {
        while true {
            let (answer, command, task) = state.withLock { state in
                let (answer, command) = state.machine.takePart()
                return (answer, command, state.task)
            }
            carryOut(command, on: task)
            switch answer {
            case .value(let part): return part
            case .end: return nil
            case .failure(let failure): throw failure.error(left: URLError(.cancelled))
            case .wait: await arrivalOrCancellation()
            }
        }
    }

    /// Suspends the reader until something has arrived or the reader is cancelled. Has a cancellation handler of its
    /// own, since the reader may be another task than the caller of the exchange.
    private func arrivalOrCancellation() async {
        await withTaskCancellationHandler {
            await arrival()
        } onCancel: {
            cancel()
        }
    }

    private func arrival() async {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
            state.withLock { $0.machine.park(Word(continuation)) }?.resume()
        }
    }

    func cancel() { perform { $0.cancel() } }

    func leave() { perform { $0.leave() } }

    /// Ends the exchange with an error that the session has not reported.
    func fail(_ error: any Error) { perform { $0.fail(.network(error)) } }

    /// Whether the caller still needs what is sent: the exchange has not ended, and the caller has not abandoned it.
    var isOpen: Bool { state.withLock { $0.machine.isOpen } }

    func didSend(_ sent: Int64, of length: Int64?) {
        guard let didSend = request.didSend, isOpen else { return }
        didSend(sent, length)
    }

    private func perform(_ event: (inout Machine) -> Machine.Action) {
        let (action, task) = state.withLock { (event(&$0.machine), $0.task) }
        action.wake?.resume()
        carryOut(action.command, on: task)
    }

    private func carryOut(_ command: Machine.Command?, on task: URLSessionTask?) {
        switch command {
        case .cancel:
            // Not on this thread: Foundation on Linux cancels with a `sync` to the session's queue, which this may be.
            // Cancelling here deadlocks if the caller is cancelled within `didSend`, and blocks a thread of the
            // caller's pool otherwise.
            taskQueue.async { [task] in task?.cancel() }
        case .pause, .proceed:
            // Different threads issue these two commands, in no order, and a task counts its suspensions. So the task
            // queue applies the state that the machine has at that moment.
            taskQueue.async { [self] in suspendOrResume() }
        case nil: break
        }
    }

    /// Suspends or resumes the task, as the state machine requires. Called on the task queue.
    private func suspendOrResume() {
        let (task, suspends) = state.withLock { state in
            let suspends = state.machine.isPaused
            defer { state.isSuspended = suspends }
            return (suspends == state.isSuspended ? nil : state.task, suspends)
        }
        if suspends { task?.suspend() } else { task?.resume() }
    }

    // MARK: Events of the session

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        guard let head = response as? HTTPURLResponse else { return perform { $0.fail(.malformed) } }
        // Foundation on Linux also reports "100 Continue" and "103 Early Hints".
        guard head.statusCode >= 200 else { return }
        perform { $0.receive(head: head) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        perform { $0.receive(part: data, bytes: data.count) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // For a redirect without a location, Foundation on Linux calls no delegate method before this one.
        let head = (task.response as? HTTPURLResponse).flatMap { 300..<400 ~= $0.statusCode ? $0 : nil }
        if error == nil, let head { perform { $0.receive(head: head) } }
        let task = state.withLock { state in state.task.take() }
        #if !canImport(FoundationNetworking)
        // The session reports the error of the stream as its own.
        let stream = state.withLock { state in state.stream.take() }
        if error != nil, stream?.streamStatus == .error || stream?.streamError != nil { request.uploadFault?.record() }
        #endif
        perform { $0.end(error.map(SessionPlatform.failure)) }
        withExtendedLifetime(task) {}
    }

    /// Prevents the session from following a redirect, since the transport follows redirects itself.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Never answered: Foundation on Linux traps if a task is cancelled, or times out, between the answer and its
        // arrival ("Received callback for HTTP redirection, but we're not waiting for it"). The body has been received
        // by now, and is kept there; the connection is free already.
        perform { $0.receiveLast(head: response) }
        #else
        completionHandler(nil)
        #endif
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        do {
            let stream = try SessionPlatform.newStream(for: self)
            #if !canImport(FoundationNetworking)
            state.withLock { $0.stream = stream }
            #endif
            completionHandler(stream)
        } catch {
            fail(error)
            completionHandler(nil)
        }
    }

    #if canImport(FoundationNetworking)
    /// Ends the exchange with the response that contains an authentication challenge, and whose head and body have
    /// arrived by then. Without this method, Foundation on Linux would neither answer the challenge nor end the task.
    /// It calls this method only for the scheme Basic.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        perform { $0.receiveLast(head: nil) }
    }
    #else
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        didSend(totalBytesSent, of: totalBytesExpectedToSend > 0 ? totalBytesExpectedToSend : nil)
    }
    #endif
}
