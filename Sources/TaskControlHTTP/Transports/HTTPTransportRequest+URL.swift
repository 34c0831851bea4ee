internal import Foundation

extension HTTPTransportRequest {
    /// Throws unless the URL of the request has one of the given schemes, a host, and a valid port. The network libraries do not check all of this.
    ///
    /// - Throws: `URLError` with the code `unsupportedURL` or `badURL`.
    func checkURL(schemes: Set<String> = ["http", "https"]) throws {
        guard let url = request.url else { throw URLError(.badURL) }
        guard let scheme = url.scheme?.lowercased(), schemes.contains(scheme) else {
            throw URLError(.unsupportedURL, text: "The scheme of the URL is not one of HTTP.")
        }
        // The URL of a Unix domain socket has a path and no host.
        guard url.host?.isEmpty == false || scheme == "unix" else {
            throw URLError(.badURL, text: "The URL has no host.")
        }
        guard url.hasUsablePort else { throw URLError(.badURL, text: URL.unusablePort) }
    }
}

extension URL {
    /// The value of the header `Authorization` for the user and the password of the URL (RFC 7617); `nil` if there is no
    /// user. The escapes are decoded to bytes, since they need not be those of UTF-8.
    var basicCredential: String? {
        guard let user = user(percentEncoded: true) else { return nil }
        var bytes = Data()
        var rest = "\(user):\(password(percentEncoded: true) ?? "")".utf8[...]
        while let first = rest.popFirst() {
            if first == UInt8(ascii: "%"), let byte = UInt8(Substring(rest.prefix(2)), radix: 16) {
                bytes.append(byte)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(first)
            }
        }
        return "Basic \(bytes.base64EncodedString())"
    }

    static let unusablePort = "The port of the URL is not in 1...65535."

    /// Whether the URL has a port in 1...65535, or none.
    ///
    /// With a larger port, SwiftNIO (2.100) traps if the host is an IP address, and drops the upper bits of the port if
    /// the host is a name.
    var hasUsablePort: Bool {
        if let port { return (1...65_535).contains(port) }
        // `port` is `nil` also for a number that no `Int` can hold.
        guard let slashes = absoluteString.range(of: "//") else { return true }
        let authority = absoluteString[slashes.upperBound...].prefix { !"/?#".contains($0) }
        let digits = authority.reversed().prefix(while: \.isNumber)
        return digits.isEmpty || authority.dropLast(digits.count).last != ":"
    }
}

extension URLError {
    init(_ code: Code, text: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
