import ArgumentParser
import TaskControlHTTP

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the books, page by page or all of them."
    )

    @Option(help: "Which page.")
    var page: Int?

    @Flag(help: "All pages, fetched at the same time.")
    var all = false

    @Flag(help: "Ask with a completion handler, as code does that is older than async. The answer is the same.")
    var callbacks = false

    @OptionGroup var options: ServerOptions

    func validate() throws {
        if all, page != nil { throw ValidationError("--all and --page are two things: choose one.") }
        if let page, page < 1 { throw ValidationError("--page \(page) is no page: they begin with 1.") }
    }

    func run() async throws {
        let service = options.service()
        try await Errand.run(server: options.server, notDone: { "nothing was listed" }) { [self] in
            if all {
                Screen.output.print(try await books(of: service))
                return
            }
            let page = try await one(page ?? 1, of: service)
            Screen.output.print(page.books)
            if page.pages > 1 {
                Screen.messages.print("page \(page.page) of \(page.pages); all of them with --all, or one with --page")
            }
        }
    }

    private func books(of service: any BookService) async throws -> [Book] {
        guard callbacks else { return try await service.fetchBooks() }
        return try await answer { service.fetchBooks(completion: $0) }
    }

    private func one(_ page: Int, of service: any BookService) async throws -> BookPage {
        guard callbacks else { return try await service.fetchPage(page) }
        return try await answer { service.fetchPage(page, completion: $0) }
    }
}

extension Screen {
    func print(_ books: [Book]) {
        for line in BookTable.lines(books, width: size()?.width) { print(line) }
    }
}
