/// What makes two exchanges the same: where to, and with which headers. Only of what has no body and changes nothing.
struct ExchangeKey: Hashable, Sendable, CustomStringConvertible {
    private let url: URL
    private let headers: [String: String]
    private let cookies: Bool
    private let cachePolicy: URLRequest.CachePolicy
    private let timeoutInterval: TimeInterval

    /// `nil`: the exchange is not to be shared.
    init?(_ outgoing: Outgoing) {
        let request = outgoing.request
        guard request.httpMethod ?? "GET" == "GET", outgoing.body == nil, request.httpBody == nil,
            request.httpBodyStream == nil,
            let url = request.url
        else { return nil }
        self.url = url
        headers = request.allHTTPHeaderFields ?? [:]
        cookies = request.httpShouldHandleCookies
        cachePolicy = request.cachePolicy
        timeoutInterval = request.timeoutInterval
    }

    /// For events: without headers.
    var description: String { "GET " + Redaction.text(of: url) }
}

/// Exchanges that several callers take part in.
final class ExchangeSharing: Sendable {
    private let flights = SingleFlight<ExchangeKey, Arrival>()

    func gather(
        _ outgoing: Outgoing,
        _ key: ExchangeKey,
        over transport: any HTTPTransport,
        _ arrival: inout Arrival,
        _ progress: ProgressReporter.Attempt?
    ) async throws {
        // What arrives is everybody's; where it was sent, and with what, is known to the caller alone.
        let (url, credentials) = (arrival.url, arrival.credentials)
        defer { (arrival.shared, arrival.url, arrival.credentials) = (key, url, credentials) }
        do {
            arrival = try await flights.run(key) {
                var arrival = Arrival(stage: .exchange)
                do {
                    try await transport.gather(outgoing, &arrival, nil)
                } catch {
                    throw Broken(error: error, arrival: arrival)
                }
                return arrival
            }
        } catch let broken as Broken {
            arrival = broken.arrival
            throw broken.error
        }
        if let response = arrival.response { progress?.expect(response) }
        progress?.didReceive(arrival.data?.count ?? 0)
    }

    /// Lets the next who asks for it have an exchange of its own.
    func forget(_ key: ExchangeKey) { flights.forget(key) }

    /// What failed, and what had arrived until then.
    private struct Broken: EventDescribable {
        let error: any Error
        let arrival: Arrival

        var eventText: String { Diagnostics.text(of: error) }
    }
}
