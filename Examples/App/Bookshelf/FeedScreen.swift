import Observation
import SwiftUI
import TaskControl
import TaskControlSwiftUI

/// The list of books. A reload while one is in progress joins it.
@MainActor @Observable final class FeedModel {
    private(set) var books: [Book] = []
    private(set) var problem: (any Error)?
    @ObservationIgnored let loads = TaskSlot(name: "feed", behavior: .preferPrevious)
    @ObservationIgnored private let server: Server

    init(server: Server) { self.server = server }

    func load() async {
        let load = loads.run(for: self) { [server] in
            try await server.books()
        } deliver: { model, books in
            (model.books, model.problem) = (books, nil)
        } onError: { model, error in
            model.problem = error
        }
        _ = await load.value
    }
}

struct FeedScreen: View {
    let model: FeedModel
    let uploads: UploadsModel

    var body: some View {
        List(model.books) { book in
            HStack {
                Text("\(book.title), \(book.author)")
                Button("Send a cover") { uploads.add(book) }
            }
        }
        .navigationTitle("Books")
        .task { await model.load() }
        .refreshable { await model.load() }
        .overlay { TaskStatus(of: model.loads, failure: model.problem) { await model.load() } }
    }
}
