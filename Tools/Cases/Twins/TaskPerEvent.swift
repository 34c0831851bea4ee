import Foundation

@MainActor final class CarefulSearch {
    var results: [Item] = []
    var pictures: [Int: String] = [:]
    var query = ""
    var generation = 0
    let api = API()
    private var task: Task<Void, Error>?

    func textDidChange(_ text: String) {
        task?.cancel()
        task = Task { [weak self, api] in
            let found = try await api.search(text)
            self?.results = found
        }
    }

    func queryChanged(_ text: String) {
        query = text
        Task { [weak self, api] in
            let found = try await api.search(text)
            guard let self, text == self.query else { return }
            self.results = found
        }
    }

    func filterChanged(_ text: String) {
        generation += 1
        let mine = generation
        Task { [weak self, api] in
            let found = try await api.search(text)
            if self?.generation == mine { self?.results = found }
        }
    }

    // Each result has a place of its own.
    func loadPicture(_ id: Int) {
        Task { [weak self, api] in
            guard let name = try? await api.user(id) else { return }
            self?.pictures[id] = name
        }
    }

    // Nothing is assigned.
    func valueChanged(_ text: String) {
        Task { [api] in try await api.save(text) }
    }

    func load() async throws {
        results = try await api.feed()
    }

    deinit { task?.cancel() }
}
