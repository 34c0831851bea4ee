import Foundation
import TaskControlHTTP
import TaskControlTesting
import Testing

@testable import bookshelf

@Suite(.timeLimit(.minutes(15)))
struct SearchPromptTests {
    private let clock = TestClock()
    private let paper = Paper()
    private let service = StubService()

    private func prompt() -> SearchPrompt {
        SearchPrompt(
            service: service,
            server: URL(string: "http://127.0.0.1:8080")!,
            screen: paper.screen(width: 40),
            pause: .milliseconds(250),
            clock: clock
        )
    }

    @Test func onlyWhatIsTypedBeforeAPauseIsSearched() async throws {
        let prompt = prompt()
        for character in "emma" { #expect(await prompt.press(.character(character))) }
        // The search of an overwritten input has been cancelled: it does not count as a sleeper.
        try await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(249))
        #expect(await service.asked == [] && clock.sleeperCount == 1)
        await clock.advance(by: .milliseconds(1))
        await prompt.end()
        #expect(await service.asked == ["emma"])
        #expect(await prompt.chosen.map(\.title) == ["emma"])
        #expect(paper.text.contains("search: emma\n1  emma  A\n1 found\n"))
    }

    @Test func whatWasTypedOverIsNotShownAndNotChosen() async throws {
        let prompt = prompt()
        _ = await prompt.press(.character("e"))
        try await clock.waitForSleepers()
        await clock.advance(by: .milliseconds(250))
        await prompt.end()
        _ = await prompt.press(.character("m"))
        #expect(await prompt.chosen.isEmpty)
        _ = await prompt.press(.backspace)
        _ = await prompt.press(.backspace)
        #expect(await prompt.chosen.isEmpty)
        await prompt.end()
        #expect(await service.asked == ["e"])
        #expect(await prompt.press(.end) == false)
    }
}

/// Finds what it is asked for.
private actor StubService: BookService {
    private(set) var asked: [String] = []

    func search(_ text: String) async throws -> [Book] {
        asked.append(text)
        return [Book(id: 1, title: text, author: "A", year: nil)]
    }

    func fetchBooks() async throws -> [Book] { [] }
    func fetchPage(_ page: Int) async throws -> BookPage { BookPage(books: [], page: page, pages: 1) }
    func add(_ book: NewBook) async throws -> Book { throw CancellationError() }
    func uploadCover(_ file: URL, of book: Book.ID, onProgress: @escaping @Sendable (Int64) -> Void) async throws
        -> Book
    {
        throw CancellationError()
    }

    nonisolated func fetchBooks(completion: @escaping Completion<[Book]>) -> Progress { Progress(totalUnitCount: 1) }
    nonisolated func fetchPage(_ page: Int, completion: @escaping Completion<BookPage>) -> Progress {
        Progress(totalUnitCount: 1)
    }
    nonisolated func search(_ text: String, completion: @escaping Completion<[Book]>) -> Progress {
        Progress(totalUnitCount: 1)
    }
    nonisolated func add(_ book: NewBook, completion: @escaping Completion<Book>) -> Progress {
        Progress(totalUnitCount: 1)
    }
    nonisolated func uploadCover(_ file: URL, of book: Book.ID, completion: @escaping Completion<Book>) -> Progress {
        Progress(totalUnitCount: 1)
    }
}
