import ArgumentParser
import Foundation
import TaskControl

/// `swift run --package-path Examples/Fleet fleet`
@main
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Three processes, a nightly job that runs once, and kill -9 in the middle of it.",
        discussion: """
            Three worker processes elect the one that runs a job of several steps. It is killed in the middle; another one takes over when its \
            lease has expired, and continues. Each step carries the fencing token of its writer, and the store refuses older tokens.

            Exit codes: 0 if all claims hold, 1 if one does not, 64 for a bad argument.
            """,
        subcommands: [WorkerCommand.self]
    )

    @OptionGroup var night: NightOptions
    @OptionGroup var store: StoreOptions

    /// The lease expires in the store, which polls, elects or is busy; and the machine has other work.
    private var takeoverLimit: Duration { .seconds(night.ttl) * 1.1 + .seconds(3) }

    func run() async throws {
        guard let executable = Bundle.main.executableURL else {
            throw ValidationError("This program does not find its own file.")
        }
        let place = store.etcd.map { "in etcd at \($0)" } ?? "in a file of SQLite"
        print("three workers, a job of \(night.steps) steps, and leases of \(night.ttl) s \(place)\n")
        let limit = takeoverLimit + .milliseconds(night.step * night.steps) + .seconds(60)
        let result: Night
        do {
            result = try await Director(options: night, store: store, executable: executable).play(limit: limit)
        } catch is TimeoutError {
            print("✗ the workers have not ended within \(limit.text)")
            throw ExitCode.failure
        }
        let claims = result.claims(takeoverLimit: takeoverLimit)
        let lines = claims.map { "\($0.holds ? "✓" : "✗") \($0.text)" }
        print((result.timeline + [""] + lines).joined(separator: "\n"))
        if !claims.allSatisfy(\.holds) { throw ExitCode.failure }
    }
}
