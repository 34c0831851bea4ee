public import Foundation

/// The content of an error's body.
extension EndpointError {
    /// Returns the body of the response: the body itself (`Data`), its text (`String`), or a value that is decoded from
    /// JSON.
    ///
    /// ```swift
    /// do {
    ///     try await client.post("orders", body: order)
    /// } catch let error as EndpointError {
    ///     guard let refusal = try? error.decode(Refusal.self) else { throw error }
    ///     print(refusal.fields)
    /// }
    /// ```
    ///
    /// The body is complete and unredacted, unlike ``bodyPrefix``: it may contain secrets, and the texts of this error
    /// do not show it. The error keeps a body of less than 64 KiB. It keeps no body of a 2xx response, and none of a
    /// response that broke off.
    ///
    /// - Parameters:
    ///   - type: The type of the content.
    ///   - decoder: Decodes the JSON; `nil` for the decoder of the client that threw the error, and, if no client did,
    ///     for a new one.
    /// - Throws: ``EndpointError`` with the reason ``Reason/content`` if the error has no complete body, or if the body
    ///   cannot be decoded: its ``underlyingError`` is then the error of the decoder.
    public func decode<Content: Decodable & Sendable>(
        _ type: Content.Type,
        with decoder: JSONDecoder? = nil
    ) throws -> Content {
        guard reason != .transport, reason != .bodyTooLarge, let body = body?.complete else {
            throw EndpointError(.content, detail: "the error has no complete body of a response")
        }
        return try RequestEndpoint.content(of: body) {
            try EndpointError.decode(type, from: $0, with: decoder ?? self.decoder ?? JSONDecoder())
        }
    }

    /// The problem that the server describes in the body of its response (RFC 9457); `nil` if the `Content-Type` of the
    /// response is not `application/problem+json`, or if the body is not complete or is no JSON object. Not redacted.
    ///
    /// For the members that a server adds to those of the standard, decode a type of your own: ``decode(_:with:)``.
    public var problem: ProblemDetails? {
        hasProblem ? try? decode(ProblemDetails.self, with: JSONDecoder()) : nil
    }

    /// A description of a failure in the body of a response with the type `application/problem+json` (RFC 9457).
    public struct ProblemDetails: Sendable, Hashable, Decodable {
        /// The URI that identifies the type of the problem: `about:blank` if the server names none.
        public let type: String

        /// A summary of the type of the problem; `nil` if there is none.
        public let title: String?

        /// The status that the origin of the problem has chosen; `nil` if there is none. A proxy may have changed that
        /// of the response, which is ``EndpointError/statusCode``.
        public let status: Int?

        /// An explanation of this occurrence of the problem; `nil` if there is none.
        public let detail: String?

        /// The URI that identifies this occurrence of the problem; `nil` if there is none.
        public let instance: String?

        private enum CodingKeys: CodingKey { case type, title, status, detail, instance }

        /// Decodes a problem. A member whose value has another type than the standard requires is ignored, as the
        /// standard requires.
        ///
        /// - Throws: `DecodingError` if the JSON is not an object.
        public init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) -> String? { try? members.decode(String.self, forKey: key) }
            type = text(.type) ?? "about:blank"
            title = text(.title)
            status = try? members.decode(Int.self, forKey: .status)
            detail = text(.detail)
            instance = text(.instance)
        }
    }
}
