import ArgumentParser
import Foundation
import Support
import TaskControlHTTP

/// `swift run --package-path Examples bookshelf`
@main
struct BookshelfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookshelf",
        abstract: "A shelf of books: a server, and a client for the command line.",
        discussion: """
            Start the server in one terminal, and use it from another:

              swift run --package-path Examples bookshelf serve
              swift run --package-path Examples bookshelf list

            Ctrl-C ends a command cleanly and says what was not done; a second one ends it at once.

            Exit codes: 0 if all was done, 1 if not, 64 for a bad argument, 130 after Ctrl-C.
            """,
        subcommands: [
            ListCommand.self, SearchCommand.self, AddCommand.self, UploadCommand.self, WatchCommand.self,
            ServeCommand.self,
        ]
    )
}

/// The options that all commands of the client have in common.
struct ServerOptions: ParsableArguments {
    @Option(help: "Where the server is. (default: http://127.0.0.1:8080)", transform: Self.address)
    var server = URL(string: "http://127.0.0.1:8080")!

    @Option(
        help:
            "How long a call may take, retries included; for uploads and for watch, how long there may be no sign of life. (default: 30s)",
        transform: Duration.init(argument:)
    )
    var timeout: Duration = .seconds(30)

    @Option(help: "How often to try again what failed and can be repeated.")
    var retries = 3

    func validate() throws {
        guard retries >= 0, timeout > .zero else {
            throw ValidationError("--retries and --timeout are at least 0 and 1ms.")
        }
    }

    private static func address(_ text: String) throws -> URL {
        guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            throw ValidationError("'\(text)' is not a server's address. Give one like http://127.0.0.1:8080.")
        }
        return url
    }

    /// Returns a client of the server. A call that is large or never ends is open-ended: it has no time limit for all of it.
    func client(isOpenEnded: Bool = false) -> EndpointClient {
        var connection = ServerConnection(server: server)
        connection.timeout = isOpenEnded ? nil : timeout
        connection.idleLimit = timeout
        connection.attempts = retries + 1
        return connection.client()
    }
}

extension Duration {
    /// Parses a duration as people type it: `250ms`, `30s`, `2m`; a number alone is seconds.
    init(argument: String) throws {
        let number = argument.prefix { $0.isNumber || $0 == "." }
        let factor: Double? = ["": 1, "ms": 0.001, "s": 1, "m": 60][argument.dropFirst(number.count)]
        guard let value = Double(number), let factor, value * factor <= 366 * 86_400 else {
            throw ValidationError("'\(argument)' is not a duration. Write it as 250ms, 30s or 2m.")
        }
        self = .seconds(value * factor)
    }
}
