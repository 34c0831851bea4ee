import ArgumentParser
import Support
import TaskControl

struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add books, in the order in which they are given.",
        discussion: "A request that has to be sent again, as its answer was lost, does not add a second one."
    )

    @Argument(help: "The titles.")
    var titles: [String]

    @Option(help: "Who wrote them.")
    var author: String

    @OptionGroup var options: ServerOptions

    func run() async throws {
        let service = BookService(client: options.client())
        let batch = Batch(verb: "added", names: titles)
        try await Errand.run(server: options.server, notDone: batch.notDone) { [self] in
            // In order: each begins when the previous one has its number.
            let queue = CancellableQueue(underlyingQueue: FIFOQueue(name: "add"))
            for (index, title) in titles.enumerated() {
                queue.addTask(name: title, whenCancelledWaiting: .skip) {
                    do {
                        _ = try await service.add(NewBook(title: title, author: author))
                        batch.report(index, .done)
                    } catch {
                        if Task.isCancelled { return }
                        batch.report(index, .failed(complaint(error, server: options.server)))
                    }
                }
            }
            // A grace period that only Ctrl-C ends: then the tasks are cancelled, and their ends awaited.
            await queue.shutdown(grace: .seconds(Int64.max))
            if let sentence = await batch.notDone() { throw Unfinished(description: sentence) }
        }
    }
}
