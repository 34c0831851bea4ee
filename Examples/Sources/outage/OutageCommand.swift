import ArgumentParser
import Foundation
import Support
import TaskControlTesting

/// `swift run --package-path Examples outage`
@main
struct OutageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outage",
        abstract: "A service fails for a minute. What its clients do about it decides when it is back.",
        discussion: """
            Thousands of clients call a service with a limited capacity, in virtual time: their tasks, their sleeps and `retry` are the \
            real ones, only the clock jumps. The same outage is met with naive retry, with backoff and jitter, with a retry budget as \
            well, and with a circuit breaker around that.

            Exit codes: 0 if the outage was played, 1 if it can't be on this platform, 64 for a bad argument, 74 if the picture could not \
            be written.
            """
    )

    @Option(help: "What is random comes from this number: the same one, the same output.")
    var seed: UInt64 = 1

    @Option(help: "How many clients there are. The service's capacity grows with them.")
    var clients = 10_000

    @Option(help: ArgumentHelp("Draw a picture into this file, too.", valueName: "file"))
    var svg: String?

    func validate() throws {
        guard (1_000...100_000).contains(clients) else {
            throw ValidationError(
                "Give --clients a number from 1000 to 100000: fewer are chance, and more are many to wait for."
            )
        }
    }

    func run() throws {
        guard Simulation.isSupported else {
            Terminal.complain("virtual time needs the simulation, which works on Linux only")
            throw ExitCode.failure
        }
        do {
            // Asked before the work: a name that can't be written to must fail without a wait.
            let picture = try svg.map { try ResultFile(path: $0) }
            let outage = try Outage(Scenario(clients: clients, seed: seed)) { strategy in
                Terminal.show(progress: "playing \(strategy.name) …")
            }
            Terminal.show(progress: "")
            outage.text.forEach(Terminal.print)
            try picture?.write(Data(outage.svg.utf8))
        } catch let error as ResultFile.NotWritable {
            Terminal.complain("\(error)")
            throw ExitCode(EX_IOERR)
        }
    }
}
