internal import Foundation

/// A function that decodes the content of a response, and where it runs.
///
/// Two kinds of functions, and not one that may suspend: where such functions are stored, the compiler (Swift 6.3) can lose the caller's isolation.
enum Decoding<Content> {
    /// In the isolation of the caller.
    case isolated((URLResponse?, Data) throws -> Content)
    /// Off the caller's actor.
    case concurrent(@concurrent @Sendable (URLResponse?, Data) async throws -> sending Content)

    func content(from response: URLResponse?, with body: Data) async throws -> Content {
        switch self {
        case .isolated(let decode): try decode(response, body)
        case .concurrent(let decode): try await decode(response, body)
        }
    }
}

extension Decodable {
    /// Whether a content of this type is decoded from JSON, and is not the body itself (`Data`) or its text (`String`).
    static var isDecoded: Bool { self != Data.self && self != String.self }
}

extension JSONDecoder {
    /// Returns the content of a body: the body (`Data`), its text (`String`), or a value that is decoded from JSON.
    ///
    /// - Throws: ``EndpointError`` with the reason ``EndpointError/Reason/content``, whose
    ///   ``EndpointError/underlyingError`` is the error of the decoder.
    func content<Content: Decodable>(_ type: Content.Type, of body: Data) throws -> Content {
        if let content = body as? Content { return content }
        if type == String.self, let content = String(decoding: body, as: UTF8.self) as? Content { return content }
        return try EndpointError.decode(type, from: body, with: self)
    }
}
