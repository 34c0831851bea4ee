import ArgumentParser
import Foundation
import TaskControlFleet

/// One process of the fleet: takes leases for three workloads until it is killed, and writes what happens to its standard output.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", shouldDisplay: false)

    @OptionGroup var store: StoreArguments
    @Option var number: Int
    @Option var file: String
    // Not the name of the flag of the main command, which would take it.
    @Flag var unguarded = false

    func run() async throws {
        let worker = Worker(
            number: number,
            store: try store.makeStore(),
            file: URL(fileURLWithPath: file),
            checksTokens: !unguarded
        )
        await withTaskGroup(of: Void.self) { group in
            for workload in Record.Workload.allCases { group.addTask { await worker.repeat(workload) } }
        }
    }
}
