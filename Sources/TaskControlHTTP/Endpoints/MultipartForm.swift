public import Foundation

extension EndpointBody {
    /// A field or a file of a form: see ``multipart(_:)``.
    public struct Part: Sendable, Hashable {
        fileprivate let name: String
        fileprivate let data: Data
        fileprivate let fileName: String?
        fileprivate let contentType: String?

        /// Returns a part for a text field with a name and a value.
        public static func field(_ name: String, _ value: String) -> Part {
            Part(name: name, data: Data(value.utf8), fileName: nil, contentType: nil)
        }

        /// Returns a part for a file.
        ///
        /// - Parameters:
        ///   - name: The name of the form field that contains the file.
        ///   - data: The content of the file.
        ///   - fileName: The name of the file that the server receives.
        ///   - contentType: The media type of the file. Control characters in this text are removed.
        public static func file(
            _ name: String,
            _ data: Data,
            fileName: String,
            contentType: String = "application/octet-stream"
        ) -> Part {
            Part(name: name, data: data, fileName: fileName, contentType: contentType)
        }
    }

    /// Encodes a form that can contain files, and returns a body with the media type `multipart/form-data` (RFC 7578).
    ///
    /// ```swift
    /// post("covers", body: .multipart([
    ///     .field("title", "Emma"),
    ///     .file("cover", picture, fileName: "emma.png", contentType: "image/png"),
    /// ]))
    /// ```
    ///
    /// The form and the content of its files are kept in memory.
    ///
    /// - Parameter parts: The parts, in their order.
    public static func multipart(_ parts: [Part]) -> EndpointBody {
        // 122 random bits: no part contains it by chance.
        let boundary = "TaskControl-" + UUID().uuidString
        return EndpointBody(
            data: encoded(parts, boundary: boundary),
            contentType: "multipart/form-data; boundary=" + boundary
        )
    }

    /// Returns the bytes of a form.
    ///
    /// - Parameter boundary: The text that separates the parts. It must not occur in a part.
    static func encoded(_ parts: [Part], boundary: String) -> Data {
        var body = Data()
        for part in parts {
            var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name.partEscaped)\""
            if let fileName = part.fileName { head += "; filename=\"\(fileName.partEscaped)\"" }
            if let contentType = part.contentType {
                head +=
                    "\r\nContent-Type: "
                    + String(decoding: contentType.utf8.filter { $0 >= 0x20 && $0 != 0x7F }, as: UTF8.self)
            }
            body.append(Data((head + "\r\n\r\n").utf8))
            body.append(part.data)
            body.append(Data("\r\n".utf8))
        }
        body.append(Data("--\(boundary)--\r\n".utf8))
        return body
    }
}

extension String {
    /// The name of a field or a file, escaped as browsers do (WHATWG HTML, multipart/form-data).
    fileprivate var partEscaped: String {
        // By scalars and not by characters: CR LF is one `Character`.
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case "\"": escaped += "%22"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}
