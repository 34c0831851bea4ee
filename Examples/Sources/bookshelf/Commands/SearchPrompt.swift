import Foundation
import TaskControlHTTP

/// A prompt that searches while a user types, at each pause.
actor SearchPrompt {
    static let mostShown = 10

    private let service: any BookService
    private let server: URL
    private let screen: Screen
    private let searches: TaskSlot
    private var text = ""
    private var found: (text: String, result: Result<[Book], any Error>)?
    private var region = LiveRegion()

    /// Creates a prompt without text.
    ///
    /// - Parameters:
    ///   - pause: The time without a keystroke after which the search begins.
    ///   - clock: Measures `pause`.
    init(
        service: any BookService,
        server: URL,
        screen: Screen,
        pause: Duration = .milliseconds(250),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.service = service
        self.server = server
        self.screen = screen
        searches = TaskSlot(name: "search", behavior: .debounce(for: pause), clock: clock)
    }

    /// Handles a key.
    ///
    /// - Returns: `false` if the key ends the input.
    func press(_ key: Key) -> Bool {
        switch key {
        case .character(let character): text.append(character)
        case .backspace: _ = text.popLast()
        case .end: return false
        }
        search()
        show()
        return true
    }

    /// Waits for the search that is in progress, and removes the prompt from the screen.
    func end() async {
        try? await searches.drain()
        if let size = screen.size() { screen.write(region.clear(size: size)) }
    }

    /// The books that were found for the last input.
    var chosen: [Book] {
        guard let found, found.text == text else { return [] }
        return (try? found.result.get()) ?? []
    }

    private func search() {
        guard !text.isEmpty else {
            found = nil
            return searches.cancelAll()
        }
        // The result of a search that a newer one has cancelled is not delivered.
        searches.run(for: self) { [service, text] in
            try await service.search(text)
        } deliver: { [text] prompt, books in
            prompt.take(.success(books), for: text)
        } onError: { [text] prompt, error in
            prompt.take(.failure(error), for: text)
        }
    }

    private func take(_ result: Result<[Book], any Error>, for text: String) {
        found = (text, result)
        show()
    }

    /// Says something above what is shown.
    func say(_ line: String) {
        show(above: [line])
    }

    private func show(above: [String] = []) {
        guard let size = screen.size() else { return }
        screen.write(region.draw(lines(size), above: above, size: size))
    }

    private func lines(_ size: Screen.Size) -> [String] {
        let prompt = "search: \(text.printable)"
        let below: [String] =
            switch found {
            case nil: text.isEmpty ? [] : ["…"]
            case let found? where found.text != text && (try? found.result.get()) == nil: ["…"]
            case (_, .failure(let error))?: [Complaint(error, server: server).text]
            case (let text, .success(let books))?:
                BookTable.lines(Array(books.prefix(Self.mostShown)), width: nil)
                    + [
                        books.isEmpty
                            ? "no book has '\(text.printable)' in its title or author" : "\(books.count) found"
                    ]
            }
        return ([prompt] + below).map { $0.cut(to: size.width - 1) }
    }
}
