import Foundation

final class QuietModel: @unchecked Sendable {
    var items: [Item] = []
    let api = API()
    private var task: Task<Void, Never>?

    // One call, and nothing that depends on it.
    func hop(_ id: Int) {
        Task { await self.api.cancel(id) }
    }

    func onCancel() async {
        await withTaskCancellationHandler {
            await api.ping()
        } onCancel: {
            Task { await self.api.cancel(1) }
        }
    }

    func capturedProperty() {
        Task { [api] in
            for await _ in api.events() {}
        }
    }

    // `self` is in the initializer of the capture, and not captured.
    func initializer() {
        Task { [source = self.api] in
            for await _ in source.events() {}
        }
    }

    func inTheLoop() {
        Task { [weak self, api] in
            for await event in api.events() {
                guard let self else { return }
                self.handle(event)
            }
        }
    }

    func optionalCalls() {
        Task { [weak self, api] in
            for await event in api.events() { self?.handle(event) }
        }
    }

    func afterTheLastAwait() {
        Task { [weak self, api] in
            let found = try await api.feed()
            guard let self else { return }
            self.items = found
        }
    }

    func kept() {
        task?.cancel()
        task = Task { [weak self, api] in
            for await event in api.events() { self?.handle(event) }
        }
    }

    func returned() -> Task<Void, Error> {
        Task { items = try await api.feed() }
    }

    func awaited() async throws {
        try await Task { items = try await api.feed() }.value
    }

    func withoutAwait() {
        Task { @MainActor in self.items = [] }
    }

    static func start(_ api: API) {
        Task {
            for await event in api.events() { log(event) }
        }
    }

    static func log(_ text: String) {}

    func unowned() {
        Task { [unowned self] in
            for await event in api.events() { self.handle(event) }
        }
    }

    func handle(_ event: String) {}
    deinit { task?.cancel() }
}

struct QuietView {
    let api = API()
    func load() {
        Task {
            for await event in self.api.events() { print(event) }
        }
    }
}

final class AppWide: Sendable {
    static let shared = AppWide()
    let api = API()
    func start() {
        Task {
            for await _ in self.api.events() {}
        }
    }
}
