import ArgumentParser
import Foundation
import Support

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the books, until Ctrl-C."
    )

    @Option(help: "Where to listen, on this machine only; 0 for any port that is free.")
    var port: UInt16 = 8080

    @Option(help: "Fail on purpose: this share of the requests, such as 0.3.")
    var unreliable = 0.0

    @Option(help: "Which requests fail comes from this number: the same one, the same failures.")
    var seed: UInt64 = 1

    @Option(
        help: "Take this long for each request, and for each 256 KB of a cover.",
        transform: Duration.init(argument:)
    )
    var slow: Duration = .zero

    @Option(help: "How long a login is good for. (default: 60s)", transform: Duration.init(argument:))
    var tokenLifetime: Duration = .seconds(60)

    func validate() throws {
        guard (0...1).contains(unreliable) else {
            throw ValidationError("--unreliable \(unreliable) is no share. Give it a number from 0 to 1, such as 0.3.")
        }
    }

    func run() async throws {
        var settings = BookServer.Settings(port: port, tokenLifetime: tokenLifetime, onEvent: Terminal.print)
        settings.faults = FaultPlan(share: unreliable, seed: seed)
        if slow > .zero { settings.pace = { [slow] _ in try await Task.sleep(for: slow) } }
        let address = URL(string: "http://127.0.0.1:\(port)")!
        try await Errand.run(server: address, notDone: { "the server has ended" }) { [settings] in
            try await BookServer.whileRunning(settings) { address, server in
                Terminal.print("A shelf of \(await server.shelf.books.count) books at \(address), until Ctrl-C.")
                // Until Ctrl-C.
                try await Observed(false).wait { $0 }
            }
        }
    }
}
