import ArgumentParser
import TaskControlHTTP
import TaskControlSupervision

struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Tell what happens on the shelf, until Ctrl-C."
    )

    @Option(help: ArgumentHelp("Begin with what came after this change; 0 for all.", valueName: "number"))
    var after: Int?

    @Option(help: ArgumentHelp("End after so many changes.", valueName: "count"))
    var count: Int?

    @OptionGroup var options: ServerOptions

    func validate() throws {
        if let after, after < 0 { throw ValidationError("--after \(after) is no change: they begin with 1.") }
        if let count, count < 1 { throw ValidationError("--count \(count) is nothing to wait for.") }
    }

    func run() async throws {
        let feed = ChangeFeed(client: options.connection(isOpenEnded: true).client(), after: after)
        let watcher = Watcher(count: count, screen: .output)
        let notDone: @Sendable () async -> String? = { "watched until change \(await watcher.last ?? after ?? 0)" }
        try await Errand.run(server: options.server, notDone: notDone) { [options] in
            try await watcher.watch(feed) { delay in
                Screen.messages.print(
                    "the connection to \(options.server) broke off; connecting again in \(delay.text)"
                )
            }
        }
    }
}

/// Reports changes. Its feed ends with it.
actor Watcher {
    private let lifetime = AsyncLifetime(name: "watch")
    private let screen: Screen
    private var remaining: Int?
    private(set) var last: Int?

    /// Creates a watcher.
    ///
    /// - Parameter count: The number of changes to report. `nil`: all.
    init(count: Int?, screen: Screen) {
        remaining = count
        self.screen = screen
    }

    /// Returns when enough changes have been reported, or the caller is cancelled.
    ///
    /// - Parameter onOutage: Receives the delay before each new connection.
    /// - Throws: The error of the feed, after which it has ended.
    func watch(_ feed: ChangeFeed, onOutage: @Sendable (Duration) -> Void = { _ in }) async throws {
        let listening = feed.start(in: lifetime) { [weak self] change in await self?.tell(change) }
        defer { lifetime.cancelAll() }
        for await state in listening.states {
            switch state {
            case .waiting(let delay, _): onOutage(delay)
            case .failed(let runs): if let error = runs.last?.error { throw error }
            default: break
            }
        }
    }

    private func tell(_ change: Change) {
        if remaining == 0 { return }
        last = change.number
        let book = change.book
        let what =
            switch change.kind {
            case .added: "new"
            case .cover: "a cover of \(book.cover?.size ?? 0) bytes"
            }
        screen.print("\(change.number)  \(book.title), \(book.author) (\(book.id)): \(what)".printable)
        remaining = remaining.map { $0 - 1 }
        if remaining == 0 { lifetime.cancelAll() }
    }
}
