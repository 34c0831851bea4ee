import TaskControl

@MainActor
protocol SearchScreen: AnyObject {
    /// The queries whose results were shown, one after the other.
    var history: [String] { get }
    /// - Returns: What the keystroke started, so that the script knows when it is over.
    func textChanged(_ text: String) -> Task<Void, Never>
}

/// As people write it today.
@MainActor
final class NaiveSearchModel: SearchScreen {
    private(set) var history: [String] = []
    private let api: API

    init(api: API) {
        self.api = api
    }

    func textChanged(_ text: String) -> Task<Void, Never> {
        Task {
            guard let found = try? await api.ask(text) else { return }
            history.append(found.subject)
        }
    }
}

/// With a `TaskStore`: what a new query does to the last one is said once, where it is started.
@MainActor
final class SearchModel: SearchScreen {
    private enum Field { case search }

    private(set) var history: [String] = []
    private let api: API
    private let behavior: TaskStoreDuplicateKeyBehavior
    private let tasks = TaskStore<Field>()

    init(api: API, behavior: TaskStoreDuplicateKeyBehavior) {
        self.api = api
        self.behavior = behavior
    }

    func textChanged(_ text: String) -> Task<Void, Never> {
        tasks.run(forKey: .search, duplicateKeyBehavior: behavior, for: self) { [api] in
            try await api.ask(text)
        } deliver: { model, found in
            model.history.append(found.subject)
        } failed: { _, _ in
            // As the naive one: what fails is not shown.
        }
    }
}
