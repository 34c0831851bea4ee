import Observation
import SwiftUI
import TaskControl
import TaskControlSwiftUI

/// A search as the user types: after a pause, and the last text wins.
@MainActor @Observable final class SearchModel {
    var text = ""
    private(set) var books: [Book] = []
    private(set) var problem: (any Error)?
    @ObservationIgnored let search = TaskSlot(name: "search", behavior: .debounce(for: .milliseconds(300)))
    @ObservationIgnored private let server: Server

    init(server: Server) { self.server = server }

    func load() async {
        do {
            books = text.isEmpty ? [] : try await server.search(text)
            problem = nil
        } catch  where !Task.isCancelled {
            problem = error
        } catch {}  // cancelled: a newer search follows
    }
}

struct SearchScreen: View {
    @Bindable var model: SearchModel

    var body: some View {
        List(model.books) { book in Text("\(book.title), \(book.author)") }
            .navigationTitle("Search")
            .searchable(text: $model.text)
            .task(id: model.text, in: model.search) { await model.load() }
            .overlay { TaskStatus(of: model.search, failure: model.problem) { await model.load() } }
    }
}
