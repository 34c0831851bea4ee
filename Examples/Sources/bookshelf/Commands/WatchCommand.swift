import ArgumentParser
import Support
import TaskControl
import TaskControlSupervision

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Tell what happens on the shelf, until Ctrl-C."
    )

    @Option(help: "Begin with what came after this change; 0 for all.")
    var after: Int?

    @OptionGroup var options: ServerOptions

    func run() async throws {
        let feed = ChangeFeed(client: options.client(isOpenEnded: true), after: after)
        let last = Observed(after ?? 0)
        try await Errand.run(server: options.server, notDone: { "watched until change \(last.value)" }) {
            let lifetime = AsyncLifetime(name: "watch")
            try await feed.watch(in: lifetime) { change in
                Terminal.print(change.line)
                last.update { $0 = change.number }
            } onOutage: { delay in
                Terminal.complain("the connection broke off; connecting again in \(delay.inMilliseconds)")
            }
        }
    }
}

extension ChangeFeed {
    /// Follows the changes until the caller is cancelled.
    ///
    /// - Throws: The error of the feed, after which it has ended.
    nonisolated func watch(
        in lifetime: AsyncLifetime,
        perform: @escaping @Sendable (Change) async -> Void,
        onOutage: (Duration) -> Void = { _ in }
    ) async throws {
        let work = start(in: lifetime, perform: perform)
        defer { lifetime.cancelAll() }
        for await state in work.states {
            switch state {
            case .waiting(let delay, _): onOutage(delay)
            case .failed(let runs): if let error = runs.last?.error { throw error }
            default: break
            }
        }
    }
}
