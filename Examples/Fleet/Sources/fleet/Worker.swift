import ArgumentParser
import Foundation
import TaskControl
import TaskControlFleet

/// A process of the fleet: runs the job of the night, unless another process does, and returns when the job is done.
struct Worker: Sendable {
    /// The key of the steps that are written in the store, each with the fencing token of its writer, such as "1:3,2:3,3:5".
    static let steps = "steps"

    let name: String
    let store: any CoordinationStore
    let options: NightOptions

    /// The store has refused a step: another worker holds the lease.
    private struct Refused: Error {}

    func run() async throws {
        // A worker that has lost its lease waits for it again.
        _ = try await retry(RetryPolicy(attempts: 5, shouldRetry: { $0 is LeaseLostError || $0 is Refused })) {
            try await runOnce(
                "nightly-job",
                for: "tonight",
                in: store,
                timeToLive: .seconds(options.ttl),
                holder: "worker \(name)"
            ) { lease in
                try Report(.elected, lease.token).send()
                do {
                    try await runJob(lease)
                    try Report(.resigned("the job was finished"), lease.token).send()
                } catch {
                    try Report(.resigned("\(error)"), lease.token).send()
                    throw error
                }
            }
        }
    }

    private func runJob(_ lease: Lease) async throws {
        var written = try await Ledger(in: store)
        for step in 1...options.steps where !written.steps.contains(step) {
            try lease.check()
            written.lines.append(Ledger.Line(step: step, token: lease.token.rawValue))
            // The store refuses the step if this process was paused, and its lease is over without its knowledge.
            guard try await store.commit(put: [Self.steps: written.data], under: lease) else { throw Refused() }
            try Report(.wrote(step), lease.token).send()
            try await Task.sleep(for: .milliseconds(options.step))
        }
    }
}

/// The steps that were written, each with the fencing token of its writer.
struct Ledger: Hashable {
    struct Line: Hashable {
        let step: Int
        let token: Int64
    }

    var lines: [Line] = []

    var steps: [Int] { lines.map(\.step) }
    var data: Data { Data(lines.map { "\($0.step):\($0.token)" }.joined(separator: ",").utf8) }
}

extension Ledger {
    init(in store: any CoordinationStore) async throws {
        lines = String(decoding: try await store.value(for: Worker.steps) ?? Data(), as: UTF8.self).split(
            separator: ","
        ).map {
            let parts = $0.split(separator: ":").compactMap { Int64($0) }
            return Line(step: Int(parts[0]), token: parts[1])
        }
    }
}

/// A line that a worker prints for the director: what happens, and when, on the clock that all processes of a machine share.
struct Report: Hashable, Codable {
    enum Event: Hashable, Codable {
        /// The worker holds the lease.
        case elected
        case wrote(Int)
        /// The worker has left its tenure, for a reason.
        case resigned(String)
        /// The worker ends because of an error.
        case failed(String)
    }

    let event: Event
    let token: Int64
    var time = ProcessInfo.processInfo.systemUptime

    init(_ event: Event, _ token: Lease.FencingToken? = nil) {
        (self.event, self.token) = (event, token?.rawValue ?? 0)
    }

    func send() throws {
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(self) + Data("\n".utf8))
    }
}

/// The command of a worker process, which the director starts.
struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "worker", shouldDisplay: false)

    @OptionGroup var night: NightOptions
    @OptionGroup var store: StoreOptions
    @Option var name: String

    func run() async throws {
        // The standard input ends with the director, and so does the worker. A thread, since reading blocks it.
        Thread.detachNewThread {
            while readLine() != nil {}
            Foundation.exit(EXIT_FAILURE)
        }
        do {
            try await Worker(name: name, store: store.makeStore(), options: night).run()
        } catch {
            try? Report(.failed("\(error)")).send()
            throw ExitCode.failure
        }
    }
}
