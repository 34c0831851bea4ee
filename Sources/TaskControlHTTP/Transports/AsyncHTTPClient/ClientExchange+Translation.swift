#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

extension ClientExchange {
    /// Returns the request in the form of AsyncHTTPClient, and whether its body is sent part by part.
    ///
    /// - Parameters:
    ///   - client: The client that will send the request. While a body is sent part by part, the reading of its next
    ///     parts waits for the event loops of this client.
    ///   - asksForEncoding: Whether an `Accept-Encoding` header is added to a request that has none.
    /// - Throws: `URLError` if the URL of the request is not valid.
    func clientRequest(for client: HTTPClient, asksForEncoding: Bool) throws -> (HTTPClientRequest, isStream: Bool) {
        try request.checkURL(schemes: ["http", "https", "http+unix", "https+unix", "unix"])
        guard let url = request.request.url else { throw URLError(.badURL) }
        var translated = HTTPClientRequest(url: url.absoluteString)
        translated.method = HTTPMethod(rawValue: request.request.httpMethod ?? "GET")
        for (name, value) in request.request.allHTTPHeaderFields ?? [:] {
            translated.headers.add(name: name, value: value)
        }
        if let user = url.user(percentEncoded: false), !translated.headers.contains(name: "Authorization") {
            // Foundation on Linux does the same. On Apple's platforms, Foundation sends the credential only when the
            // server asks for it.
            let credential = Data("\(user):\(url.password(percentEncoded: false) ?? "")".utf8).base64EncodedString()
            translated.headers.add(name: "Authorization", value: "Basic \(credential)")
        }
        if asksForEncoding, !translated.headers.contains(name: "Accept-Encoding") {
            translated.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
        }
        guard let upload else { return (translated, false) }
        // The client adds the length of the body.
        translated.headers.remove(name: "Content-Length")
        translated.headers.remove(name: "Transfer-Encoding")
        if case .data(let data) = request.body, data.count <= UploadParts.size {
            translated.body = .bytes(ByteBuffer(data: data))
            return (translated, false)
        }
        let length: HTTPClientRequest.Body.Length = upload.length.map { .known($0) } ?? .unknown
        translated.body = .stream(UploadParts(upload, self, client.eventLoopGroup), length: length)
        return (translated, true)
    }

    /// Returns the head of a response in the form of Foundation.
    func head(of response: HTTPClientResponse) throws -> HTTPURLResponse {
        var fields: [String: String] = [:]
        fields.reserveCapacity(response.headers.count)
        for (name, value) in response.headers {
            if let before = fields.updateValue(value, forKey: name) { fields[name] = before + ", " + value }
        }
        // Where the client has followed redirects of its own, the URL is that of the last one.
        let asked = request.request.url!
        let head = HTTPURLResponse(
            url: response.history.count > 1 ? response.url ?? asked : asked,
            statusCode: Int(response.status.code),
            httpVersion: response.version.major == 2 ? "HTTP/2" : "HTTP/1.1",
            headerFields: fields
        )
        guard let head else { throw URLError(.badServerResponse) }
        return head
    }
}
#endif
