internal import Foundation

/// The scheme, host and port of a URL, which identify the server that receives a request to the URL.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    /// Creates the origin of a URL from the components of the URL; `nil` if it has no scheme or no host. If there is no
    /// port, the origin has the default port of HTTP or HTTPS, or 0 for other schemes.
    init?(_ parts: URLComponents) {
        guard let scheme = parts.scheme?.lowercased(), let host = parts.host?.lowercased(), !host.isEmpty else {
            return nil
        }
        self.scheme = scheme
        self.host = host
        port = parts.port ?? (scheme == "https" ? 443 : scheme == "http" ? 80 : 0)
    }

    /// Creates the origin of a URL; `nil` if the URL has no scheme or no host.
    init?(_ url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        self.init(parts)
    }
}
