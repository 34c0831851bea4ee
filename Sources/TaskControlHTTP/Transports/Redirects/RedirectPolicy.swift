internal import Foundation

/// The rules for the request to which a redirect leads, for all transports of this module: RFC 9110, 15.4, as browsers
/// implement it (WHATWG Fetch, 4.4). A value counts the redirects of one call.
struct RedirectPolicy {
    /// The largest number of redirects that are followed, as ``HTTPTransport`` documents. Browsers and Foundation follow 20, curl 50, AsyncHTTPClient
    /// 5.
    static let limit = 16

    private var followed = 0

    /// Returns the request to which a response redirects; `nil` if the response is not a redirect.
    ///
    /// - Throws: `URLError` if more than ``limit`` redirects would be followed, if the location of the redirect is not a
    ///   valid URL of HTTP or has a port outside 1...65535, if there are several different locations, or if the redirect
    ///   leads from HTTPS to HTTP and ``HTTPTransportRequest/allowsInsecureRedirects`` is `false`.
    mutating func request(after response: HTTPURLResponse, to request: HTTPTransportRequest) throws
        -> HTTPTransportRequest?
    {
        guard
            [301, 302, 303, 307, 308].contains(response.statusCode), let location = try response.location(),
            let origin = request.request.url
        else { return nil }
        guard var target = URL(escaping: location, relativeTo: origin)?.absoluteURL, target.host?.isEmpty == false
        else {
            throw URLError(.redirectToNonExistentLocation)
        }
        target = target.withLowercaseScheme ?? target
        guard let scheme = target.scheme, ["http", "https"].contains(scheme) else {
            throw URLError(.unsupportedURL)
        }
        guard target.hasUsablePort else {
            throw URLError(.redirectToNonExistentLocation, text: URL.unusablePort)
        }
        let wasSecure = origin.scheme?.lowercased().hasPrefix("https") == true
        guard scheme == "https" || !wasSecure || request.allowsInsecureRedirects else {
            throw URLError(
                .appTransportSecurityRequiresSecureConnection,
                text: "The server redirects from https to http, which is not encrypted. To follow such redirects, set "
                    + "allowsInsecureRedirects."
            )
        }
        guard followed < Self.limit else { throw URLError(.httpTooManyRedirects) }
        followed += 1
        request.willFollowRedirect?()

        var next = request
        let isSameOrigin = Origin(target) == Origin(origin)
        next.request.url = isSameOrigin ? target.withCredentials(of: origin) : target
        if let method = Self.method(of: request.request.httpMethod ?? "GET", after: response.statusCode) {
            next.request.httpMethod = method
            next.request.httpBody = nil
            next.body = nil
            for name in (next.request.allHTTPHeaderFields ?? [:]).keys where Self.describesBody(name.lowercased()) {
                next.request.setValue(nil, forHTTPHeaderField: name)
            }
        }
        if !isSameOrigin {
            // Removed for good: a later redirect back to the first origin comes from another origin.
            let credentials = Set(request.credentialHeaders.map { $0.lowercased() })
            for name in (next.request.allHTTPHeaderFields ?? [:]).keys.map({ $0.lowercased() })
            where !Self.harmlessHeaders.contains(name) || credentials.contains(name) {
                next.request.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return next
    }

    /// Returns the method of the redirected request, which is then sent without a body; `nil` if the method and the body stay the same.
    private static func method(of method: String, after status: Int) -> String? {
        switch (status, method.uppercased()) {
        case (303, "GET"), (303, "HEAD"): nil
        case (303, _), (301, "POST"), (302, "POST"): "GET"
        default: nil
        }
    }

    /// Returns whether a header, whose name is given in lower case, describes the body of a request.
    private static func describesBody(_ header: String) -> Bool {
        header.hasPrefix("content-") || header == "transfer-encoding"
    }

    /// The headers that are sent to another origin. A list of harmless headers, since no list of secret headers is complete: keys have names such as
    /// `Ocp-Apim-Subscription-Key` or `X-Auth`.
    private static let harmlessHeaders: Set = [
        // Headers that describe the response.
        "accept", "accept-charset", "accept-encoding", "accept-language", "range",
        // Headers that state whether a response is needed, and how fresh it must be.
        "cache-control", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "pragma",
        // Headers that describe the body, where it is sent again.
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-location",
        "content-md5", "content-range",
        "content-type",
        // Headers that identify a request that is sent again, and the trace of a request: neither is a credential.
        "idempotency-key", "traceparent", "tracestate",
        // The client's name, for statistics.
        "user-agent",
    ]
}
