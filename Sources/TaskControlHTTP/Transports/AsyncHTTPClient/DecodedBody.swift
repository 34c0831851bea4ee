#if AsyncHTTPClient

internal import AsyncHTTPClient
internal import CTaskControlZlib
internal import Foundation
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// The parts of a response's body, without the content codings gzip and deflate.
///
/// A body without bytes has no coding, even if the head names one: the answer to a HEAD, a 204, a 304, and any other
/// empty body.
struct DecodedBody {
    /// The largest number of codings of a body. Each needs memory, so a server must not choose the number.
    private static let maxCodings = 4

    private var parts: HTTPClientResponse.Body.AsyncIterator
    /// The codings, in the order in which they are undone.
    private let codings: [Inflater]
    private let hasTooManyCodings: Bool
    /// The longest time to wait for a part of the encoded body; `nil` for no limit.
    private let limit: Duration?

    /// Creates the decoded body of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - decodes: Whether the content codings are undone. If one of them is not known, none is.
    ///   - limit: The longest time to wait for a part of the encoded body; `nil` for no limit.
    init(_ response: HTTPClientResponse, decodes: Bool, limit: Duration?) {
        parts = response.body.makeAsyncIterator()
        self.limit = limit
        let names = response.headers[canonicalForm: "Content-Encoding"].map { $0.lowercased() }.filter {
            $0 != "identity"
        }
        hasTooManyCodings = decodes && names.count > Self.maxCodings
        let inflaters = decodes && !hasTooManyCodings ? names.reversed().compactMap(Inflater.init) : []
        codings = inflaters.count == names.count ? inflaters : []
    }

    /// Returns the next part of the decoded body; `nil` after the last one.
    ///
    /// - Throws: The error of the client; `URLError` with the code `cannotDecodeRawData` if the body cannot be decoded.
    mutating func next() async throws -> Data? { try await next(after: codings.count) }

    /// Returns the next part after a number of codings have been undone.
    private mutating func next(after count: Int) async throws -> Data? {
        guard count > 0 else {
            guard let part = try await nextPart() else { return nil }
            if hasTooManyCodings {
                throw URLError(.cannotDecodeRawData, text: "The body of the response has too many content codings.")
            }
            return Data(buffer: part)
        }
        let coding = codings[count - 1]
        while true {
            if let part = try coding.next() { return part }
            guard let part = try await next(after: count - 1) else {
                try coding.end()
                return nil
            }
            coding.append(part)
        }
    }

    private mutating func nextPart() async throws -> ByteBuffer? {
        // Used only by the client, or by the child task, while this task waits for its end.
        nonisolated(unsafe) var reading = parts
        defer { parts = reading }
        guard let limit else { return try await reading.next() }
        do {
            return try await withTimeout(limit) { try await reading.next() }
        } catch is TimeoutError {
            throw HTTPClientError.readTimeout
        }
    }
}

#endif
