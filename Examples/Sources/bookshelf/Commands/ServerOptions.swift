import ArgumentParser
import TaskControlHTTP

/// The options that all commands of the client have in common.
struct ServerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Where the server is. (default: http://127.0.0.1:8080)", valueName: "url"),
        transform: Self.address
    )
    var server = URL(string: "http://127.0.0.1:8080")!

    @Option(
        help: ArgumentHelp("Who asks. The password comes from the environment: BOOKSHELF_PASSWORD.", valueName: "name")
    )
    var user: String = Account.standard.user

    @Option(
        help: ArgumentHelp(
            "How long a call may take, retries included; for uploads and for watch, how long there may be no sign of life. (default: 30s)",
            valueName: "duration"
        ),
        transform: Duration.init(argument:)
    )
    var timeout: Duration = .seconds(30)

    @Option(help: ArgumentHelp("How often to try again what failed and can be repeated.", valueName: "count"))
    var retries = 3

    @Flag(help: "Tell of each attempt, on standard error.")
    var verbose = false

    func validate() throws {
        guard (0...100).contains(retries) else { throw ValidationError("--retries \(retries) is not from 0 to 100.") }
        guard timeout > .zero else { throw ValidationError("--timeout has to be more than nothing, such as 30s.") }
    }

    private static func address(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw ValidationError("'\(text)' is not a server's address. Give one like http://127.0.0.1:8080.")
        }
        return url
    }
}

extension ServerOptions {
    /// Returns a connection to the server with these options.
    ///
    /// - Parameters:
    ///   - isOpenEnded: Whether the whole call has no time limit, for calls that are large or never end.
    ///   - say: Reports an attempt.
    func connection(
        isOpenEnded: Bool = false,
        say: @escaping @Sendable (String) -> Void = Screen.messages.print
    ) -> ServerConnection {
        var connection = ServerConnection(server: server)
        connection.account = .named(user, environment: ProcessInfo.processInfo.environment)
        connection.timeLimit = isOpenEnded ? nil : timeout
        connection.idleLimit = timeout
        connection.attempts = retries + 1
        if verbose { connection.observer = { say(Self.line($0, $1, $2, $3)) } }
        return connection
    }

    func service(
        isOpenEnded: Bool = false,
        say: @escaping @Sendable (String) -> Void = Screen.messages.print
    ) -> any BookService {
        RemoteBookService(client: connection(isOpenEnded: isOpenEnded, say: say).client())
    }

    /// Returns a line that describes an attempt, without headers and without the values of the query, so without secrets.
    static func line(_ request: URLRequest?, _ response: HTTPURLResponse?, _ body: Data?, _ error: (any Error)?)
        -> String
    {
        let items = request?.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true)?.queryItems } ?? []
        let query = items.isEmpty ? "" : "?" + items.map { "\($0.name)=…" }.joined(separator: "&")
        let asked = "\(request?.httpMethod ?? "?") \(request?.url?.path ?? "?")\(query)"
        let status = response.map { "\($0.statusCode), \(body?.count ?? 0) bytes" }
        let failure = error.flatMap { error -> String? in
            switch error {
            // The status says it already.
            case let error as EndpointError where [.status, .unauthorized].contains(error.reason): nil
            case is CancellationError: "cancelled"
            case is TimeoutError: "no answer in time"
            default: "failed"
            }
        }
        return "  \(asked): " + [status, failure].compactMap(\.self).joined(separator: ", ")
    }
}
