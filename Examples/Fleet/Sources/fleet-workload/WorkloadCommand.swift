import ArgumentParser

/// Processes that compete for leases while processes and members fail, and a check of what they have left behind.
@main
struct WorkloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-workload",
        abstract: "Checks leases while processes and members of a cluster fail.",
        subcommands: [RunCommand.self, WorkerCommand.self],
        defaultSubcommand: RunCommand.self
    )
}
