internal import Foundation

/// The error of a failed exchange, with the part of the response that had arrived. Every call that shares the exchange
/// reports both.
struct UnsuccessfulExchange: EventDescribable, RetryAfterProviding {
    let error: any Error
    let response: ReceivedResponse
    /// Whether the whole response has arrived, so that it is passed to the endpoint although its status is 5xx or 429.
    var isComplete = false

    var eventText: String { Redaction.eventText(of: error) }
    var retryAfter: Duration? { response.head?.retryAfter() }
}
