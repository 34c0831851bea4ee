import ArgumentParser
import Foundation
import TaskControlFleet

/// Runs workers against a store, causes faults, and checks what the workers have left behind.
@main
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-workload",
        abstract: "Runs the workloads, with three members of etcd that it starts itself, or with a file of SQLite.",
        discussion: """
            The exit code is 1 if an update was lost where the token of the lease is checked, if two processes have taken leases of one name for valid at the \
            same time, if tokens do not increase, or if the run itself was not complete, such as without a kind of fault. Updates that were lost where no \
            token is checked are counted and printed.
            """,
        subcommands: [WorkerCommand.self]
    )

    @OptionGroup var store: StoreArguments

    @Option(help: "The time for which faults are caused, in seconds.")
    var seconds = 60

    @Option(help: "The number of processes; by default 5 with etcd, and 8 with SQLite.")
    var workers: Int?

    @Option(help: "Seeds the choice of the faults.")
    var seed: UInt64?

    @Option(help: ArgumentHelp("The folder of the data and logs; by default a temporary one.", valueName: "path"))
    var folder: String?

    @Flag(help: "Check no tokens: the run must lose updates, and the check must find them.")
    var withoutTokens = false

    func run() async throws {
        // A member that is killed must not end the proxy.
        signal(SIGPIPE, SIG_IGN)
        let seed = seed ?? UInt64.random(in: 1...1_000_000)
        let folder = URL(
            fileURLWithPath: folder ?? NSTemporaryDirectory()
                + "fleet-workload-\(ProcessInfo.processInfo.processIdentifier)"
        )
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let run = try Run(
            store: store,
            workers: workers ?? (store.sqlite == nil ? 5 : 8),
            seconds: seconds,
            seed: seed,
            folder: folder,
            checksTokens: !withoutTokens
        )
        let place = store.sqlite == nil ? "three members of etcd" : "SQLite"
        say("\(place), \(run.workerCount) processes, \(seconds) s, seed \(seed)")
        let verdict: Verdict
        let start = Record.now
        do {
            verdict = try await run.perform()
        } catch {
            run.end()
            throw error
        }
        run.end()
        let summary = verdict.summary(
            place + (withoutTokens ? ", without tokens" : ""),
            seconds: Int((Record.now - start) / 1_000_000_000)
        )
        (summary + verdict.overlaps.prefix(10).map { "    overlap: \($0)" }).forEach(say)
        try Data(summary.map { $0 + "\n" }.joined().utf8).write(to: folder.appendingPathComponent("summary"))
        guard verdict.violations.isEmpty else {
            verdict.violations.forEach { say("VIOLATION: \($0)") }
            throw ExitCode(1)
        }
        say("No update was lost where the token is checked.")
        if self.folder == nil { try? FileManager.default.removeItem(at: folder) }
    }
}

/// Writes a line at once, also into a file.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
