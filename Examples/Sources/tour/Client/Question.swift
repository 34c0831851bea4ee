import Foundation
import TaskControlHTTP

/// The server's answer about a subject.
struct Answer: Codable, Sendable {
    let subject: String
    let edition: Int
}

/// A question about a subject, as the server wants it asked.
struct Question: Endpoint {
    typealias Content = Answer

    let subject: String
    var token: Int?

    func makeRequest() -> URLRequest {
        var request = get("search", queryItems: [URLQueryItem(name: "q", value: subject)])
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }
}
