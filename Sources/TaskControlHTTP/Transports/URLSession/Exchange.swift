/// One request of a session and its response: hears what the session says, and hands it to the one who reads.
final class Exchange: NSObject, URLSessionDataDelegate {
    private typealias Machine = ExchangeStateMachine<HTTPURLResponse, Data, UnsafeContinuation<Void, Never>>

    private struct State {
        var machine: Machine
        /// From the start to the end. It keeps this object as its delegate, so it is let go at the end.
        var task: URLSessionTask?
        /// What the task was told last, on the queue of wires.
        var isSuspended = false
    }

    let request: HTTPTransportRequest
    /// What is sent with it, opened.
    let upload: SessionUpload?
    private let wires: DispatchQueue
    private let state: Locked<State>

    /// - Parameter wires: Where tasks are cancelled.
    init(_ request: HTTPTransportRequest, _ upload: SessionUpload?, wires: DispatchQueue) {
        self.request = request
        self.upload = upload
        self.wires = wires
        state = Locked(State(machine: Machine(limit: SessionPlatform.bytesBeforePause)))
    }

    /// Sends the request, unless the caller has been cancelled.
    func start(in session: URLSession) {
        guard state.withLock({ $0.machine.start() }) else { return }
        let task = SessionPlatform.task(for: self, in: session)
        task.delegate = self
        state.withLock { $0.task = task }
        task.resume()
        perform { $0.didStart() }
    }

    /// Called by the one who reads, as are the next three.
    func head() async throws -> HTTPURLResponse {
        while true {
            switch state.withLock({ $0.machine.takeHead() }) {
            case .value(let head): return head
            case .failure(let failure): throw failure.error
            case .wait, .end: await arrivalOrCancellation()
            }
        }
    }

    func next() async throws -> Data? {
        while true {
            let (asked, wire, task) = state.withLock { state in
                let (asked, wire) = state.machine.takePart()
                return (asked, wire, state.task)
            }
            act(on: wire, task)
            switch asked {
            case .value(let part): return part
            case .end: return nil
            case .failure(let failure): throw failure.error
            case .wait: await arrivalOrCancellation()
            }
        }
    }

    /// Reads the body of a response that nobody wants, if it is short: so the connection can be used again.
    func discard() async throws {
        var count = 0
        while count < 1 << 16, let part = try await next() { count += part.count }
    }

    /// Who waits here is resumed by its own handler, and may be another task than the caller.
    private func arrivalOrCancellation() async {
        await withTaskCancellationHandler {
            await arrival()
        } onCancel: {
            cancel()
        }
    }

    private func arrival() async {
        await withUnsafeContinuation { continuation in
            state.withLock { $0.machine.park(continuation) }?.resume()
        }
    }

    func cancel() { perform { $0.cancel() } }

    func leave() { perform { $0.leave() } }

    /// Ends the exchange for a reason of our own.
    func fail(_ error: any Error) { perform { $0.fail(.network(error)) } }

    /// Whether what is sent is still anybody's business.
    var isOpen: Bool { state.withLock { $0.machine.isOpen } }

    func didSend(_ sent: Int64, of length: Int64?) {
        guard let didSend = request.didSend, isOpen else { return }
        didSend(sent, length)
    }

    private func perform(_ event: (inout Machine) -> Machine.Action) {
        let (action, task) = state.withLock { (event(&$0.machine), $0.task) }
        action.wake?.resume()
        act(on: action.wire, task)
    }

    private func act(on wire: Machine.Wire?, _ task: URLSessionTask?) {
        switch wire {
        case .cancel:
            // Not from here. Foundation on Linux cancels with a `sync` to the session's queue, which this may be: it deadlocks if the
            // caller is cancelled within `didSend`, and blocks a thread of the caller's pool otherwise.
            wires.async { [task] in task?.cancel() }
        case .pause, .proceed:
            // Whoever pauses and whoever lets proceed are not ordered among each other, and a task counts: so it is told what holds when it
            // is told.
            wires.async { [self] in settle() }
        case nil: break
        }
    }

    /// On the queue of wires.
    private func settle() {
        let (task, suspends) = state.withLock { state in
            let suspends = state.machine.isPaused
            defer { state.isSuspended = suspends }
            return (suspends == state.isSuspended ? nil : state.task, suspends)
        }
        if suspends { task?.suspend() } else { task?.resume() }
    }

    // MARK: What the session says

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        guard let head = response as? HTTPURLResponse else { return perform { $0.fail(.malformed) } }
        // Foundation on Linux also tells of "100 Continue" and "103 Early Hints".
        guard head.statusCode >= 200 else { return }
        perform { $0.receive(head: head) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        perform { $0.receive(part: data, bytes: data.count) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // Of a redirect without a location, Foundation on Linux tells nothing before this.
        let head = (task.response as? HTTPURLResponse).flatMap { 300..<400 ~= $0.statusCode ? $0 : nil }
        if error == nil, let head { perform { $0.receive(head: head) } }
        let task = state.withLock { state in state.task.take() }
        perform { $0.end(error.map(SessionPlatform.failure)) }
        withExtendedLifetime(task) {}
    }

    /// Redirects are followed by the transport.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Never answered: Foundation on Linux traps if a task is cancelled, or times out, between the answer and its arrival ("Received
        // callback for HTTP redirection, but we're not waiting for it"). The body has been received by now, and is kept there; the
        // connection is free already.
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
            completionHandler(try SessionPlatform.newStream(for: self))
        } catch {
            fail(error)
            completionHandler(nil)
        }
    }

    #if canImport(FoundationNetworking)
    /// Head and body have arrived by now. Foundation on Linux asks for the user's name only where the scheme is Basic, and waits forever if
    /// the delegate has none.
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

extension ExchangeStateMachine.Failure {
    fileprivate var error: any Error {
        switch self {
        case .network(let error): error
        case .malformed: URLError(.badServerResponse)
        case .cancelled: CancellationError()
        // Somebody reads the body after the closure that it was given to.
        case .left: URLError(.cancelled)
        }
    }
}
