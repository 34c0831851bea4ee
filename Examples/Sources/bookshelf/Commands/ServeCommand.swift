import ArgumentParser
import Foundation

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the books, until Ctrl-C."
    )

    @Option(help: "Where to listen, on this machine only; 0 for any port that is free.")
    var port: UInt16 = 8080

    @Option(help: ArgumentHelp("Fail on purpose: this share of the requests, such as 0.3.", valueName: "share"))
    var unreliable = 0.0

    @Option(help: "Which requests fail comes from this number: the same one, the same failures.")
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp("Take this long for each request, and for each 256 KB of a cover.", valueName: "duration"),
        transform: Duration.init(argument:)
    )
    var slow: Duration = .zero

    @Option(
        help: ArgumentHelp("How long a login is good for. (default: 60s)", valueName: "duration"),
        transform: Duration.init(argument:)
    )
    var tokenLifetime: Duration = .seconds(60)

    func validate() throws {
        guard (0...1).contains(unreliable) else {
            throw ValidationError("--unreliable \(unreliable) is no share. Give it a number from 0 to 1, such as 0.3.")
        }
    }

    func run() async throws {
        let tally = Tally()
        let server = URL(string: "http://127.0.0.1:\(port)")!
        try await Errand.run(server: server, announce: { _ in }, notDone: { "\n\(tally.value)" }) { [settings] in
            var settings = settings
            settings.onEvent = { event in
                tally.count(event)
                Screen.output.print("\(event)")
            }
            try await BookServer.whileRunning(settings) { server in
                Screen.output.print(
                    "A shelf of \(await server.shelf.all.count) books at \(server.address), until Ctrl-C."
                )
                try await server.waitUntilStopped()
            }
        }
    }

    var settings: ServerSettings {
        var settings = ServerSettings()
        settings.port = port
        settings.faults = FaultPlan(share: unreliable, seed: seed)
        settings.tokenLifetime = tokenLifetime
        settings.account = .named(nil, environment: ProcessInfo.processInfo.environment)
        if slow > .zero { settings.pace = { [slow] _ in try await Task.sleep(for: slow) } }
        return settings
    }
}

/// A counter of events from any thread.
private final class Tally: Sendable {
    private let lock = NSLock()
    // Only under the lock.
    private nonisolated(unsafe) var tally = ServerTally()

    var value: ServerTally { lock.withLock { tally } }

    func count(_ event: ServerEvent) { lock.withLock { tally.count(event) } }
}
