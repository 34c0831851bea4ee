/// The error of an exchange, with the part of the response that had arrived: every call that waited for the exchange reports both.
struct UnsuccessfulExchange: EventDescribable, RetryAfterProviding {
    let error: any Error
    let response: ReceivedResponse
    /// Whether the whole response has arrived, so that it is passed to the endpoint although its status is a failure.
    var isComplete = false

    var eventText: String { Redaction.eventText(of: error) }
    var retryAfter: Duration? { response.head?.retryAfter() }
}
