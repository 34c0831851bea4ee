// A client as an owner: its tasks are its calls.
extension EndpointClient {
    /// The number of calls that have not ended and that the client has not cancelled: requests, uploads, downloads and
    /// streamed responses.
    public var count: Int { calls.liveCount }

    /// Cancels all calls. The client stays open.
    ///
    /// - Complexity: O(*n*) in the number of calls.
    public func cancelAll() { cancelAll(for: .requested(reason: nil)) }

    /// Cancels all calls for a reason. The client stays open.
    ///
    /// - Parameter reason: A description of the reason, for logs.
    /// - Complexity: O(*n*) in the number of calls.
    public func cancelAll(because reason: String) { cancelAll(for: .requested(reason: reason)) }

    /// Cancels all calls, and refuses later ones.
    ///
    /// - Complexity: O(*n*) in the number of calls.
    public func close() {
        refuse(waiting: .run)
        cancelAll(for: .shutdown(name: name))
    }

    package func refuse(waiting: WaitingWorkBehavior) { calls.refuse(waiting: waiting) }

    package func cancelAll(for cause: CancellationCause) {
        calls.cancelAll(for: cause)
        sharing.cancelAll(for: cause)
    }

    package func cutOff(for cause: CancellationCause, within limit: CancellationLimit?) async -> ShutdownReport {
        let ids = calls.cancelAll(for: cause, isCutOff: true)
        sharing.cancelAll(for: cause)
        let hasEnded = await waitForCancelledTasks(within: limit) { (stays: Bool) throws(CancellationError) in
            try await self.drain(staysWhenCancelled: stays)
        }
        let report = calls.report(of: ids)
        // The transport waits for its exchanges, and perhaps for those of calls that are left behind.
        let transport = Task.detached { [transport] in await transport.shutdown() }
        if hasEnded { await transport.value }
        return report
    }

    package func drain(staysWhenCancelled: Bool) async throws(CancellationError) {
        try await calls.drain(staysWhenCancelled: staysWhenCancelled)
        try await sharing.drain(staysWhenCancelled: staysWhenCancelled)
    }
}
