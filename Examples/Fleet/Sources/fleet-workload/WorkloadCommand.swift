import ArgumentParser

/// Runs a workload against a store, and checks what it has left.
@main
struct WorkloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet-workload")

    func run() async throws {}
}
