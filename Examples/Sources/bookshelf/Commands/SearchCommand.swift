import ArgumentParser
import Foundation
import TaskControlFanOut
import TaskControlHTTP

struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Search titles and authors.",
        discussion: "Without a term, and in a terminal: searches while you type."
    )

    @Argument(help: "What to search for; several are searched at the same time.")
    var terms: [String] = []

    @OptionGroup var options: ServerOptions

    func validate() throws {
        if terms.contains("") {
            throw ValidationError("An empty term is in every book: leave it out, or use list --all.")
        }
    }

    func run() async throws {
        if terms.isEmpty { return try await searchWhileTyping() }
        let service = options.service()
        let board = BatchBoard(verb: "searched", names: terms)
        try await Errand.run(server: options.server, notDone: { await board.notDone }) { [terms] in
            let found = try await terms.enumerated().concurrentMap(limit: 8) { index, term in
                let books = try await service.search(term)
                await board.set(index, .done)
                return books
            }
            for (term, books) in zip(terms, found) {
                if terms.count > 1 { Screen.output.print("\(term.printable): \(books.count) found") }
                Screen.output.print(books)
                if terms.count == 1, books.isEmpty {
                    Screen.messages.print("no book has '\(term.printable)' in its title or author")
                }
            }
        }
    }

    private func searchWhileTyping() async throws {
        guard isatty(STDIN_FILENO) == 1, Screen.messages.size() != nil else {
            Screen.messages.complain(
                "without a terminal to type in, search needs a term, such as: bookshelf search emma"
            )
            throw ExitCode.validationFailure
        }
        let (said, voice) = AsyncStream<String>.makeStream()
        let service = options.service { voice.yield($0) }
        let prompt = SearchPrompt(service: service, server: options.server, screen: .messages)
        let lifetime = AsyncLifetime(name: "search prompt")
        lifetime.forEach(said, for: prompt) { prompt, line in prompt.say(line) }
        TerminalMode.takeKeys()
        defer { TerminalMode.restore() }
        try await Errand.run(server: options.server, announce: { _ in }, notDone: { "nothing was chosen" }) {
            for await key in Keys.stream() {
                guard await prompt.press(key) else { break }
            }
            await prompt.end()
        }
        Screen.output.print(await prompt.chosen)
    }
}
