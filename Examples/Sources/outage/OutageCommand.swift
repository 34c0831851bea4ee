import ArgumentParser
import Foundation
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

    private static let possible = 1_000...100_000

    func validate() throws {
        guard Self.possible.contains(clients) else {
            let why = clients < Self.possible.lowerBound ? "few: what they do is chance" : "many to wait for"
            throw ValidationError(
                "\(clients) clients are too \(why). "
                    + "Give --clients a number from \(Self.possible.lowerBound) to \(Self.possible.upperBound)."
            )
        }
        if let svg, svg.isEmpty { throw ValidationError("--svg needs the name of a file, such as outage.svg.") }
    }

    func run() throws {
        guard Simulation.isSupported else {
            Terminal.complain("virtual time needs the simulation, which works on Linux only")
            throw ExitCode.failure
        }
        // Asked before the work: a name that can't be written to must fail without a wait.
        let picture = try svg.map { try Picture(path: $0) }
        let outage = try Outage(Scenario(clients: clients, seed: seed)) { strategy in
            Terminal.show(progress: "playing \(strategy.name) …")
        }
        Terminal.show(progress: nil)
        print(outage.text(on: .current).joined(separator: "\n"))
        try picture?.write(SVGChart(outage: outage).text)
    }
}
