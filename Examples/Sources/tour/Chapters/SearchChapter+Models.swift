import TaskControl

@MainActor
protocol SearchScreen: AnyObject {
    /// The queries whose results were shown, one after the other.
    var history: [String] { get }
    /// Handles a keystroke, and returns the work that it started, so that the script can await its end.
    func textChanged(_ text: String) -> any Endable
}

/// A model as people write it today.
@MainActor
final class NaiveSearchModel: SearchScreen {
    private(set) var history: [String] = []
    private let api: API

    init(api: API) { self.api = api }

    func textChanged(_ text: String) -> any Endable {
        Task<Void, Never> {
            guard let found = try? await api.ask(text) else { return }
            history.append(found.subject)
        }
    }
}

/// A model with a `TaskSlot`, whose behavior decides what a new query does to the previous one.
@MainActor
final class SearchModel: SearchScreen {
    private(set) var history: [String] = []
    private let api: API
    private let searches: TaskSlot

    init(api: API, name: String, behavior: TaskStoreDuplicateKeyBehavior) {
        self.api = api
        searches = TaskSlot(name: name, behavior: behavior)
    }

    func textChanged(_ text: String) -> any Endable {
        searches.run(for: self) { [api] in
            try await api.ask(text)
        } deliver: { model, found in
            model.history.append(found.subject)
        } onError: { _, _ in
            // Like the naive model, this one does not show errors.
        }
    }
}
