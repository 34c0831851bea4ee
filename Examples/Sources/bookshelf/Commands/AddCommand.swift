import ArgumentParser
import TaskControlHTTP

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

    @Option(help: "When they came out.")
    var year: Int?

    @OptionGroup var options: ServerOptions

    func validate() throws {
        if titles.contains("") { throw ValidationError("A book has a title.") }
    }

    func run() async throws {
        let service = options.service()
        let board = BatchBoard(verb: "added", names: titles)
        try await Errand.run(server: options.server, notDone: { await board.notDone }) { [self] in
            // In order: each begins when the previous one has its number.
            let queue = CancellableQueue(underlyingQueue: FIFOQueue(name: "add"))
            for (index, title) in titles.enumerated() {
                queue.addTask(name: title, whenCancelledWaiting: .skip) {
                    do {
                        let book = try await service.add(NewBook(title: title, author: author, year: year))
                        await board.set(index, .done)
                        Screen.output.print([book])
                    } catch {
                        if Task.isCancelled { return }
                        await board.set(index, .failed(Complaint(error, server: options.server).text))
                    }
                }
            }
            await queue.finish()
            let report = await board.report
            guard !report.isDone, !Task.isCancelled else { return }
            throw Unfinished(report: report)
        }
    }
}
