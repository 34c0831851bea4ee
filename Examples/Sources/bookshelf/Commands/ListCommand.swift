import ArgumentParser
import Support
import TaskControlFanOut

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the books, page by page or all of them."
    )

    @Option(help: "Which page.")
    var page = 1

    @Flag(help: "All pages, fetched at the same time.")
    var all = false

    @Flag(help: "Ask with a completion handler, as code does that is older than async. The answer is the same.")
    var callbacks = false

    @OptionGroup var options: ServerOptions

    func run() async throws {
        let service = BookService(client: options.client())
        try await Errand.run(server: options.server, notDone: { "nothing was listed" }) { [self] in
            let books =
                switch (all, callbacks) {
                case (true, false): try await service.fetchBooks()
                case (true, true): try await answer { service.fetchBooks(completion: $0) }
                case (false, false): try await service.fetchPage(page).books
                case (false, true): try await answer { service.fetchPage(page, completion: $0) }.books
                }
            for book in books { Terminal.print(book.line) }
        }
    }
}

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "search", abstract: "Search titles and authors.")

    @Argument(help: "What to search for; several are searched at the same time.")
    var terms: [String]

    @OptionGroup var options: ServerOptions

    func run() async throws {
        let service = BookService(client: options.client())
        try await Errand.run(server: options.server, notDone: { "nothing was found" }) { [terms] in
            let found = try await terms.concurrentMap(limit: 8) { try await service.search($0) }
            for (term, books) in zip(terms, found) {
                Terminal.print("\(term): \(books.count) found")
                for book in books { Terminal.print(book.line) }
            }
        }
    }
}
