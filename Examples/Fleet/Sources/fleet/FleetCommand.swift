import ArgumentParser

/// Runs a nightly job once in a fleet of three processes, and kills its runner.
@main
struct FleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet")

    func run() async throws {}
}
