/// The error of an exchange, with the part of the response that had arrived: every call that waited for the exchange reports both.
struct UnsuccessfulExchange: EventDescribable, RetryAfterProviding {
    let error: any Error
    let response: ReceivedResponse
    /// Whether all of the response has arrived: it is an answer for the endpoint.
    var isComplete = false

    var eventText: String { Redaction.eventText(of: error) }
    var retryAfter: Duration? { response.head?.retryAfter() }
}
