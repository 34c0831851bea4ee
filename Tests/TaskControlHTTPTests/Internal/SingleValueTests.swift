import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControlHTTP

/// Headers that have one value, and that a server sends twice: RFC 9110, 5.3.
@Suite(.timeLimit(.minutes(15)), .tags(.machine))
struct SingleValueTests {
    @Test(arguments: [
        ("\"a\", \"a\"", "\"a\""), ("\"a\",\"a\"", "\"a\""), ("\"a,b\", \"a,b\"", "\"a,b\""), ("10, 10 , 10", "10"),
        ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("bytes 4-9/10, bytes 4-9/10", "bytes 4-9/10"), (" 5 ", "5"), ("", ""), (",", ""),
        // Different values stay as they are.
        ("\"a\", \"b\"", "\"a\", \"b\""), ("10, 11", "10, 11"), ("10, 10, 11", "10, 10, 11"), ("a, b, a", "a, b, a"),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ])
    func equalValuesAreOne(_ joined: String, _ value: String) {
        #expect(HeaderField.single(joined) == value)
    }

    @Test func aHeaderSentTwiceIsReadLikeOne() {
        let twice = { (value: String) in value + ", " + value }
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let made = "Sun, 06 Nov 1994 08:49:30 GMT"
        #expect(head(["Retry-After": twice(date), "Date": twice(made)]).retryAfter() == .seconds(7))
        #expect(head(["Retry-After": twice("5")]).retryAfter() == .seconds(5))
        #expect(head(["Retry-After": "5, 6"]).retryAfter() == nil)
        let download = DownloadStateMachine.Head(
            head([
                "Content-Range": twice("bytes 0-9/10"), "Content-Length": twice("10"), "ETag": twice("\"a\""),
                "Last-Modified": twice(date), "Date": twice(made), "Accept-Ranges": twice("none"),
                "Content-Encoding": twice("identity"),
            ])
        )
        #expect(
            download
                == .init(
                    status: 503,
                    contentRange: "bytes 0-9/10",
                    contentLength: "10",
                    entityTag: "\"a\"",
                    lastModified: date,
                    date: made,
                    refusesRanges: true
                )
        )
        #expect(head(["Content-Encoding": "identity, gzip"]).isContentEncoded)
    }

    @Test func progressKnowsALengthThatWasSentTwice() {
        let reported = OrderRecorder<TransferProgress>()
        let transfer = ProgressReporter { reported.record($0) }.begin()
        transfer.expect(head(["Content-Length": "10, 10"]))
        #expect(reported.events.last?.expectedToReceive == 10)
    }

    @Test func anEventStreamWhoseTypeWasSentTwiceIsOne() async throws {
        let response = HTTPTransportResponse(
            head: head(["Content-Type": "text/event-stream, text/event-stream"]),
            body: HTTPResponseBody(Data("data: a\n\n".utf8))
        )
        var events: [String] = []
        for try await event in response.events { events.append(event.data) }
        #expect(events == ["a"])
    }

    @Test func theTypeInTheErrorOfAStreamHasNoCredential() async throws {
        let response = HTTPTransportResponse(
            head: head(["Content-Type": "text/html token=hush"]),
            body: HTTPResponseBody(Data())
        )
        let error = await #expect(throws: EndpointError.self) { for try await _ in response.events {} }
        #expect(error?.description.contains("hush") == false)
    }

    private func head(_ fields: [String: String]) -> HTTPURLResponse {
        HTTPURLResponse(url: URL(string: "http://h")!, statusCode: 503, httpVersion: nil, headerFields: fields)!
    }
}
