import Foundation
import TaskControl
import Testing

@testable import TaskControlHTTP

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An error of a call classifies itself for `retry` around the call.
@Suite struct EndpointErrorRetryTests {
    private func error(_ status: Int) throws -> EndpointError {
        let url = try #require(URL(string: "https://books.example/v1/books/1"))
        let response = try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: nil))
        return try #require(throws: EndpointError.self) {
            try EndpointError.validateStatus(of: response, to: nil, data: nil)
        }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504]) func aTransientStatusIsWorthAnotherAttempt(_ status: Int)
        throws
    {
        #expect(try RetryPolicy.isWorthRetrying(error(status)))
    }

    @Test(arguments: [301, 400, 401, 403, 404, 409, 410, 422, 501]) func anyOtherStatusIsNot(_ status: Int) async throws
    {
        let error = try error(status)
        var attempts = 0
        await #expect(throws: EndpointError.self) {
            try await retry(attempts: 3, backoff: .none) {
                attempts += 1
                throw error
            }
        }
        #expect(attempts == 1)
    }

    @Test func onlyATransientErrorOfTheTransportIsWorthAnotherAttempt() {
        let lost = EndpointError(.transport, underlyingError: URLError(.networkConnectionLost))
        #expect(RetryPolicy.isWorthRetrying(lost))
        let untrusted = EndpointError(.transport, underlyingError: URLError(.serverCertificateUntrusted))
        #expect(!RetryPolicy.isWorthRetrying(untrusted))
        for reason in [EndpointError.Reason.request, .unauthorized, .content, .bodyTooLarge] {
            #expect(!RetryPolicy.isWorthRetrying(EndpointError(reason)))
        }
    }
}
