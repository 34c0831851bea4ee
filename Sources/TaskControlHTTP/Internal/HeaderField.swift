/// Functions that check a request's method and headers (RFC 9110, 5.5 and 5.6.2).
///
/// The checks are made before a transport receives the request: Foundation drops some invalid texts without an error,
/// and sends others unchanged, so that a line break in a name or a method would add further headers.
enum HeaderField {
    /// Returns whether a text is a token, which is the syntax of a method and of the name of a header.
    static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isTokenCharacter)
    }

    /// Returns whether the value of a header contains no control character except tabs.
    static func isValid(value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
    }

    /// Returns headers by their names. The values of headers whose names are equal, also if they differ in upper and lower
    /// case (RFC 9110, 5.1), are joined (5.3), under the first spelling of the name.
    static func joined(_ headers: some Sequence<(String, String)>) -> [String: String] {
        var fields: [String: String] = [:]
        var spellings: [String: String] = [:]
        fields.reserveCapacity(headers.underestimatedCount)
        for (name, value) in headers {
            let key = name.lowercased()
            if let spelling = spellings[key] {
                fields[spelling]! += ", " + value
            } else {
                spellings[key] = name
                fields[name] = value
            }
        }
        return fields
    }

    /// Returns headers with unique names, also if upper and lower case are not distinguished. The values of equal names are
    /// joined in the order of their spellings.
    static func joined(_ headers: [String: String]) -> [String: String] {
        joined(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// Returns the error for an invalid value of a header. Its text names the header, and does not contain the value.
    static func invalidValue(of name: String) -> EndpointError {
        EndpointError(
            .request,
            detail:
                "the value of the header \"\(name)\" contains a line break, NUL, or another control character: remove it, for example with "
                + "trimmingCharacters(in: .whitespacesAndNewlines)"
        )
    }

    /// Returns the error for an invalid name of a header. Its text contains only the characters before the first invalid one, since the rest may be a
    /// value.
    static func invalidName(_ name: String) -> EndpointError {
        EndpointError(
            .request,
            detail: name.isEmpty
                ? "a header has an empty name"
                : "the name of the header \"\(token(beginning: name))…\" contains a character that is not allowed in names (RFC 9110, 5.1)"
        )
    }

    static func invalidMethod(_ method: String) -> EndpointError {
        EndpointError(
            .request,
            detail: method.isEmpty
                ? "the method is empty"
                : "the method \"\(token(beginning: method))…\" contains a character that is not allowed in methods (RFC 9110, 9.1)"
        )
    }

    private static func token(beginning text: String) -> String {
        String(decoding: text.utf8.prefix(while: isTokenCharacter), as: UTF8.self)
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
