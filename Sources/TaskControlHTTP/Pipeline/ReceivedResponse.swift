internal import Foundation
internal import TaskControlResilience

/// The part of a response that has arrived so far.
struct ReceivedResponse: Sendable {
    /// The status and the headers; `nil` before they have arrived.
    var head: HTTPURLResponse?
    /// The part of the body that has been collected; `nil` before the transport has delivered any.
    var body: Data?

    /// Adds a part to the body.
    ///
    /// - Parameters:
    ///   - chunk: The part.
    ///   - limit: The largest length of the body, in bytes; `nil` for no limit.
    /// - Throws: ``EndpointError/Reason/bodyTooLarge`` if the body is longer than that.
    @inline(never)
    mutating func append(_ chunk: Data, _ limit: Int?) throws {
        if let limit, chunk.count > max(0, limit) - (body?.count ?? 0) { throw EndpointError.bodyTooLarge(limit) }
        // The first part is taken over without a copy: often it is the whole body.
        if body?.isEmpty == false { body?.append(chunk) } else { body = chunk }
    }

    /// Returns an error that has the request of an exchange and this response.
    func completed(_ error: EndpointError, of exchange: Exchange) -> EndpointError {
        error.completed(
            request: exchange.requestWithoutCredential,
            response: head,
            data: body,
            credentials: exchange.credentials,
            decoder: exchange.decoder
        )
    }

    /// Returns what the response to a request that was sent, or the error in its place, shows about the host.
    ///
    /// - Parameters:
    ///   - exchange: The exchange of the request.
    ///   - wait: The waits before the request was sent.
    func outcome(
        _ error: (any Error)?,
        of exchange: Exchange,
        after wait: ConnectionWait
    ) -> PolicyOutcome {
        if let head, head.isFailureOfHost {
            // An error of the client, even if the endpoint has accepted the status or has thrown an error of its own.
            return .failed(error as? EndpointError ?? completed(EndpointError(.status), of: exchange))
        }
        guard let error else { return .healthy }
        if exchange.uploadFault?.hasOccurred == true { return head == nil ? .unknown : .healthy }
        let isBrokenOff = error.isOfLimit || (error as? EndpointError)?.reason == .transport && isRetryable(error)
        let hasWaitedInVain = head == nil && (wait.wasInVain || isWaitForConnection(error))
        if isBrokenOff, !hasWaitedInVain { return .failed(error) }
        return head == nil ? .unknown : .healthy
    }
}
