#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

extension ClientExchange {
    /// Returns the request in the form of AsyncHTTPClient, and whether its body is sent part by part.
    ///
    /// - Parameters:
    ///   - client: The client that will send the request. While a body is sent part by part, the reading of its next
    ///     parts waits for the event loops of this client.
    ///   - decompression: Decides which `Accept-Encoding` is added to a request that has none.
    /// - Throws: `URLError` if the URL of the request is not valid, or if the client would send another one.
    func clientRequest(for client: HTTPClient, _ decompression: Decompression) throws -> (
        HTTPClientRequest, isStream: Bool
    ) {
        try request.checkURL(schemes: ["http", "https", "http+unix", "https+unix", "unix"])
        guard let url = request.request.url else { throw URLError(.badURL) }
        // The client (1.37) takes "/" for a path that it cannot decode, such as "/caf%E9".
        guard !url.path.isEmpty || url.path(percentEncoded: true).isEmpty else {
            throw URLError(.badURL, text: "AsyncHTTPClient cannot send a path whose escapes are not those of UTF-8.")
        }
        var translated = HTTPClientRequest(url: url.absoluteString)
        translated.method = HTTPMethod(rawValue: request.request.httpMethod ?? "GET")
        for (name, value) in request.request.allHTTPHeaderFields ?? [:] {
            translated.headers.add(name: name, value: value)
        }
        if let credential = url.basicCredential, !translated.headers.contains(name: "Authorization") {
            // On Apple's platforms, Foundation sends the credential only when the server asks for it.
            translated.headers.add(name: "Authorization", value: credential)
        }
        if let encodings = decompression.acceptedEncodings, !translated.headers.contains(name: "Accept-Encoding") {
            translated.headers.add(name: "Accept-Encoding", value: encodings)
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
        // Where the client has followed redirects of its own, the URL is that of the last one.
        let asked = request.request.url!
        let head = HTTPURLResponse(
            url: response.history.count > 1 ? response.url ?? asked : asked,
            statusCode: Int(response.status.code),
            httpVersion: response.version.major == 2 ? "HTTP/2" : "HTTP/1.1",
            headerFields: HeaderField.joined(response.headers.lazy.map { ($0.name, $0.value) })
        )
        guard let head else { throw URLError(.badServerResponse) }
        return head
    }
}
#endif
