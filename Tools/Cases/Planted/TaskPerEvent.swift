import Foundation

@MainActor final class SearchModel {
    var results: [Item] = []
    var user = ""
    let api = API()
    private var task: Task<Void, Error>?

    func searchTextDidChange(_ text: String) {
        Task { [weak self, api] in  // expect: task-per-event
            let found = try await api.search(text)
            self?.results = found
        }
    }

    func select(_ id: Int) {
        Task { [weak self, api] in  // expect: task-per-event
            guard let name = try? await api.user(id) else { return }
            self?.user = name
        }
    }

    func textFieldDidChange(_ text: String) {
        Task {  // expect: task-per-event, dropped-task
            results = try await api.search(text)
        }
    }

    // Stored, but the previous one continues.
    func queryChanged(_ text: String) {
        task = Task { [weak self, api] in  // expect: task-per-event, uncancelled-task
            let found = try await api.search(text)
            self?.results = found
        }
    }
}

@MainActor final class PropertyModel {
    var results: [Item] = []
    let api = API()

    var query = "" {
        didSet {
            Task { [weak self, api, query] in  // expect: task-per-event
                let found = try await api.search(query)
                self?.results = found
            }
        }
    }

    var page = 0 {
        willSet {
            Task { [weak self, api] in  // expect: task-per-event
                guard let found = try? await api.search("\(newValue)") else { return }
                self?.results = found
            }
        }
    }

    var filter = "" {
        didSet {
            Task { await reload() }  // expect: task-per-event, dropped-task
        }
    }

    func reload() async {
        guard let found = try? await api.search(filter) else { return }
        results = found
    }
}

struct SearchView {
    @State var results: [Item] = []
    var query = ""
    let api = API()
    let screen = Screen()

    @MainActor mutating func update(_ text: String) -> Task<Void, Error>? { nil }
}

@MainActor final class Controls {
    var results: [Item] = []
    var title = ""
    let api = API()
    let screen = Screen()
    var onValueChanged: ((String) -> Void)?

    func body(_ query: String) -> Screen {
        screen.onChange(of: query) { [self] in
            Task { [weak self, api] in  // expect: task-per-event
                let found = try await api.search(query)
                self?.results = found
            }
        }
    }

    func connect() {
        onValueChanged = { [weak self, api] text in
            Task { @MainActor in  // expect: task-per-event
                let found = try await api.search(text)
                self?.results = found
            }
        }
    }

    func selectionChanged() {
        Task { [weak self, api] in  // expect: task-per-event
            let name = try await api.user(1)
            let text = "user " + name
            self?.title = text
        }
    }
}
