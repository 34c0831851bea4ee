import ArgumentParser

/// `swift run --package-path Examples bookshelf`
@main
struct BookshelfCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookshelf",
        abstract: "A shelf of books: a server, and a client for the command line.",
        discussion: """
            Start the server in one terminal, and use it from another:

              swift run --package-path Examples bookshelf serve
              swift run --package-path Examples bookshelf list

            Ctrl-C ends a command cleanly and says what was not done; a second one ends it at once.

            Exit codes: 0 if all was done, 1 if not, 64 for a bad argument, 130 after Ctrl-C.
            """,
        subcommands: [
            ListCommand.self, SearchCommand.self, AddCommand.self, UploadCommand.self, WatchCommand.self,
            ServeCommand.self,
        ]
    )
}
