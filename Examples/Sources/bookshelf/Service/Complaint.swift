import TaskControlHTTP

/// An error in one line, with what to do about it.
struct Complaint: Sendable {
    let text: String

    init(_ error: any Error, server: URL) {
        text =
            switch error {
            case let error as EndpointError: Self.text(of: error, server)
            case let error as TimeoutError:
                "no answer from \(server) within \(error.duration.text): give it more time with --timeout"
            case let error as CocoaError: Self.text(of: error)
            default: "\(error)"
            }
    }

    private static func text(of error: EndpointError, _ server: URL) -> String {
        switch error.reason {
        case .transport:
            switch (error.underlyingError as? URLError)?.code {
            case .cannotConnectToHost?, .cannotFindHost?, .dnsLookupFailed?:
                return
                    "no server at \(server): start one with `swift run --package-path Examples bookshelf serve`, or say where it is with --server"
            case .timedOut?:
                return "nothing more from \(server): give it more time with --timeout"
            default:
                guard server.scheme?.lowercased() != "https" else {
                    return
                        "no secure connection to \(server): if the server speaks plain HTTP, as `bookshelf serve` does, give --server an "
                        + "address that begins with http://"
                }
                return
                    "the connection to \(server) broke off, and trying again did not help: more attempts with --retries"
            }
        case .status where error.statusCode == 403:
            return
                "\(server) does not know this user with this password: see --user, and put the password into BOOKSHELF_PASSWORD"
        case .status where error.statusCode == 503:
            return "\(server) is not available, and trying again did not help: more attempts with --retries"
        case .status where error.statusCode == 401, .unauthorized:
            return
                "\(server) rejects the token that it has just given: it may not live long enough, see --token-lifetime of serve"
        case .status:
            // A shelf says what is wrong; others speak HTML.
            guard let title = error.title else { fallthrough }
            return "\(server) answered \(error.statusCode ?? 0): \(title)"
        case .content, .bodyTooLarge:
            return "what answers at \(server) is not a bookshelf: say where one is with --server"
        case .request:
            return "\(server) is not a server's address: give --server one like http://127.0.0.1:8080"
        @unknown default:
            return "\(error)"
        }
    }

    private static func text(of error: CocoaError) -> String {
        let path = error.filePath ?? error.url?.path
        return [path, error.localizedDescription].compactMap(\.self).joined(separator: ": ")
    }
}

extension EndpointError {
    /// The text of a server for people (RFC 9457).
    fileprivate var title: String? {
        guard let bodyPrefix else { return nil }
        return (try? JSONDecoder().decode([String: String].self, from: Data(bodyPrefix.utf8)))?["title"]
    }
}
