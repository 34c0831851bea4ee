/// The body of a request, and its media type.
public struct EndpointBody: Sendable, Hashable {
    /// The bytes that are sent.
    public let data: Data

    /// The media type: the value of the `Content-Type` header.
    public let contentType: String

    /// Creates a body of any media type.
    ///
    /// - Parameters:
    ///   - data: The bytes that are sent.
    ///   - contentType: The value of the `Content-Type` header.
    public init(data: Data, contentType: String) {
        self.data = data
        self.contentType = contentType
    }
}

extension EndpointBody {
    /// Returns a body with the media type `application/json`, from JSON that is already encoded.
    public static func json(_ data: Data) -> EndpointBody { EndpointBody(data: data, contentType: "application/json") }

    /// Encodes a value as JSON, and returns a body with the media type `application/json`.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder. By default `nil`: in the `makeRequest()` of an endpoint, the endpoint's
    ///     ``ResponseEndpoint/encoder`` is used, or the client's encoder if the endpoint has none; elsewhere, a new
    ///     `JSONEncoder`.
    /// - Throws: The error of the encoder.
    public static func json(encoding value: some Encodable, with encoder: JSONEncoder? = nil) throws -> EndpointBody {
        try json((encoder ?? CallCoding.encoder).encode(value))
    }

    /// Returns a body with the media type `application/x-www-form-urlencoded`, from a form that is already encoded.
    public static func form(_ data: Data) -> EndpointBody {
        EndpointBody(data: data, contentType: "application/x-www-form-urlencoded")
    }

    /// Encodes the fields of a form, in their order, and returns a body with the media type
    /// `application/x-www-form-urlencoded`.
    ///
    /// The encoding is that of browsers (WHATWG URL, 5.2): letters, digits and `*-._` stay, a space becomes `+`, and
    /// all other characters are percent-encoded in UTF-8.
    public static func form(_ fields: KeyValuePairs<String, String>) -> EndpointBody {
        let encoded = fields.map { "\($0.formEncoded)=\($1.formEncoded)" }.joined(separator: "&")
        return form(Data(encoded.utf8))
    }

    /// Returns a body with the media type `text/plain; charset=utf-8`, from text that is already encoded in UTF-8.
    public static func text(_ data: Data) -> EndpointBody {
        EndpointBody(data: data, contentType: "text/plain; charset=utf-8")
    }

    /// Encodes text in UTF-8, and returns a body with the media type `text/plain; charset=utf-8`.
    public static func text(_ string: String) -> EndpointBody { text(Data(string.utf8)) }

    /// Returns a body with the media type `application/octet-stream`, from any bytes.
    public static func binary(_ data: Data) -> EndpointBody {
        EndpointBody(data: data, contentType: "application/octet-stream")
    }
}

extension String {
    fileprivate var formEncoded: String {
        var encoded = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: " "):
                encoded += "+"
            default:
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
