/// A request that is ready to be sent.
struct Outgoing: Sendable {
    /// With its credential.
    var request: URLRequest
    /// Without it: what endpoints and observers see.
    let shown: URLRequest
    let body: UploadEndpointBody?
    var hasCredential = false

    /// As a transport takes it.
    func transported(_ progress: ProgressReporter?) -> HTTPTransportRequest {
        var transported = HTTPTransportRequest(request, body: body, didSend: progress?.didSend)
        guard hasCredential else { return transported }
        // What the authenticator attached goes nowhere else, whatever its name is.
        let (with, without) = (request.allHTTPHeaderFields ?? [:], shown.allHTTPHeaderFields ?? [:])
        for (name, value) in with where without[name] != value { transported.credentialHeaders.insert(name) }
        return transported
    }
}

/// How far an attempt has come, and what has arrived.
struct Arrival: Sendable {
    enum Stage {
        /// Nothing has been sent.
        case preparation
        case exchange
        /// The response is with the endpoint, or with who reads its body. It can't be taken back from there.
        case reading
    }

    var stage = Stage.preparation
    var response: HTTPURLResponse?
    var data: Data?

    /// Whether another attempt may have more luck.
    func mayPass(after error: any Error, _ policy: HTTPRetryPolicy?) -> Bool {
        guard let policy else { return false }
        return switch stage {
        case .preparation: false
        case .exchange: HTTPRetryPolicy.mayPass(error)
        case .reading: response.map { policy.statuses.contains($0.statusCode) } ?? false
        }
    }

    mutating func append(_ chunk: Data) {
        // The first one is taken over as it is: often it is the whole.
        if data?.isEmpty == false { data?.append(chunk) } else { data = chunk }
    }
}

/// What came of an attempt that failed, with what the policies need to know.
struct FailedAttempt: Error, RetryAfterProviding {
    /// What the caller is to see.
    let error: any Error
    /// What it was before.
    let underlying: any Error
    /// The credential that the server rejected.
    let rejected: CredentialSerial?
    let mayPass: Bool
    let retryAfter: Duration?
}

extension HTTPTransport {
    /// Sends a request and gathers what comes.
    func gather(_ outgoing: Outgoing, _ arrival: inout Arrival, _ progress: ProgressReporter?) async throws {
        try await withResponse(to: outgoing.transported(progress)) { response in
            arrival.response = response.head
            progress?.expect(response.head)
            for try await chunk in response.body {
                arrival.append(chunk)
                progress?.didReceive(chunk.count)
            }
            if arrival.data == nil { arrival.data = Data() }
        }
    }
}
