/// The body of a request, and of what type it is.
public struct HTTPBody: Sendable, Hashable {
    /// What is sent.
    public let data: Data

    /// Of what media type it is: the value of the `Content-Type` header.
    public let contentType: String

    /// A body of any media type.
    ///
    /// - Parameters:
    ///   - data: What is sent.
    ///   - contentType: The value of the `Content-Type` header.
    public init(data: Data, contentType: String) {
        self.data = data
        self.contentType = contentType
    }
}

extension HTTPBody {
    /// JSON, already encoded: `application/json`.
    public static func json(_ data: Data) -> HTTPBody { HTTPBody(data: data, contentType: "application/json") }

    /// JSON: `application/json`.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder. By default, in the `makeRequest()` of an endpoint, the endpoint's or the client's;
    ///     elsewhere a new one.
    /// - Throws: What the encoder throws.
    public static func json(encoding value: some Encodable, with encoder: JSONEncoder? = nil) throws -> HTTPBody {
        try json((encoder ?? CallCoding.encoder).encode(value))
    }

    /// A form, already encoded: `application/x-www-form-urlencoded`.
    public static func form(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/x-www-form-urlencoded")
    }

    /// The fields of a form, in their order: `application/x-www-form-urlencoded`.
    ///
    /// Encoded as browsers do (WHATWG URL, 5.2): a space becomes `+`, and of other characters only letters, digits and `*-._` stay.
    public static func form(_ fields: KeyValuePairs<String, String>) -> HTTPBody {
        let encoded = fields.map { "\($0.formEncoded)=\($1.formEncoded)" }.joined(separator: "&")
        return form(Data(encoded.utf8))
    }

    /// Text, already encoded in UTF-8: `text/plain; charset=utf-8`.
    public static func text(_ data: Data) -> HTTPBody { HTTPBody(data: data, contentType: "text/plain; charset=utf-8") }

    /// Text, in UTF-8: `text/plain; charset=utf-8`.
    public static func text(_ string: String) -> HTTPBody { text(Data(string.utf8)) }

    /// Anything: `application/octet-stream`.
    public static func binary(_ data: Data) -> HTTPBody {
        HTTPBody(data: data, contentType: "application/octet-stream")
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
