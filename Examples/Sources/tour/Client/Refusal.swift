import Foundation
import TaskControl

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The server's answer is that it does not answer.
struct Refusal: Error, RetryAfterProviding {
    let status: Int
    /// From `Retry-After`, in its form in seconds.
    let retryAfter: Duration?

    /// - Returns: `nil`, if it is none.
    init?(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse, response.statusCode >= 400 else { return nil }
        status = response.statusCode
        retryAfter = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }.map { .seconds($0) }
    }
}
