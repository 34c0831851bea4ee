import Foundation
import Testing

@testable import TaskControlHTTP

@Suite(.timeLimit(.minutes(15)))
struct RetryAfterTests {
    @Test(arguments: [
        ("2", Duration.seconds(2)), (" 0 ", .zero), ("3600", .seconds(3_600)),
        ("99999999999999999999", .seconds(3_155_760_000)),
        ("Sun, 06 Nov 94 08:49:37 GMT", nil), ("-1", nil), ("1.5", nil), ("soon", nil), ("", nil), ("٢", nil),
    ])
    func secondsAreRead(_ value: String, _ expected: Duration?) {
        #expect(response(["Retry-After": value]).retryAfter() == expected)
    }

    @Test(arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func aDateIsReadInEachOfItsForms(_ date: String) {
        #expect(HTTPDate.parse(date) == Date(timeIntervalSince1970: 784_111_777))
        let now = Date(timeIntervalSince1970: 784_111_777 - 30)
        #expect(response(["Retry-After": date]).retryAfter(now: now) == .seconds(30))
    }

    @Test func theServersOwnTimeCounts() {
        let headers = ["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:30 GMT"]
        #expect(response(headers).retryAfter() == .seconds(7))
    }

    @Test func aDateThatIsPastMeansNow() {
        #expect(response(["Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"]).retryAfter() == .zero)
        #expect(response([:]).retryAfter() == nil)
    }

    private func response(_ headers: [String: String]) -> HTTPURLResponse {
        HTTPURLResponse(url: URL(string: "http://h")!, statusCode: 503, httpVersion: nil, headerFields: headers)!
    }
}
