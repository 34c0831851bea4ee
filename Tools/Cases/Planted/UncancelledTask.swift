import Foundation

final class Discarding: Sendable {
    let api = API()

    func discard() {
        _ = Task { [api] in  // expect: uncancelled-task
            await api.ping()
            await api.ping()
        }
    }

    func discardStream() {
        _ = Task { [api] in  // expect: uncancelled-task
            for await event in api.events() { print(event) }
        }
    }
}

func discardInFunction(_ api: API) {
    let _ = Task {  // expect: uncancelled-task
        let items = try await api.feed()
        print(items)
    }
}

struct DiscardingValue {
    let api = API()
    func discard() {
        _ = Task.detached { [api] in  // expect: uncancelled-task
            while true { await api.ping() }
        }
    }
}

final class Replacing {
    private var task: Task<Void, Never>?
    let api = API()

    func start() {
        task = Task { [api] in  // expect: uncancelled-task
            await api.ping()
        }
    }

    deinit { task?.cancel() }
}

@MainActor final class ReplacingLocal {
    private var current: Task<Void, Error>?
    let api = API()

    func reload() {
        let task = Task { [api] in  // expect: uncancelled-task
            _ = try await api.feed()
        }
        current = task
    }

    func stop() { current?.cancel() }
}

actor ReplacingByKey {
    private var tasks: [String: Task<Void, Never>] = [:]
    let api = API()

    func start(_ name: String) {
        tasks[name] = Task { [api] in  // expect: uncancelled-task
            await api.ping()
        }
    }

    func stop() { tasks.values.forEach { $0.cancel() } }
}

final class NeverCancelling {
    private var task: Task<Void, Never>?
    let api = API()

    init() {
        task = Task { [api] in  // expect: uncancelled-task
            for await _ in api.events() {}
        }
    }
}

final class ConstantTask {
    private let task: Task<Void, Never>

    init(_ api: API) {
        task = Task {  // expect: uncancelled-task
            for await _ in api.events() {}
        }
    }
}

@MainActor final class SearchWithoutEnd {
    private var search: Task<Void, Never>?
    var results: [Item] = []
    let api = API()

    func run(_ text: String) {
        search?.cancel()
        search = Task { [weak self, api] in  // expect: uncancelled-task
            let found = try? await api.search(text)
            guard !Task.isCancelled, let found else { return }
            self?.results = found
        }
    }
}

final class UnreachableEnd: @unchecked Sendable {
    private var task: Task<Void, Never>?
    let api = API()

    init() {
        task = Task {  // expect: uncancelled-task
            for await event in api.events() { handle(event) }
        }
    }

    func handle(_ event: String) {}
    deinit { task?.cancel() }
}

final class Collecting {
    private var tasks: [Task<Void, Never>] = []
    let api = API()

    func add() {
        tasks.append(Task { [api] in await api.ping() })  // expect: uncancelled-task
    }
}

struct LeavingView {
    @State private var load: Task<Void, Never>? = nil
    let api = API()

    mutating func appear() {
        load?.cancel()
        load = Task { [api] in  // expect: uncancelled-task
            await api.ping()
        }
    }
}

actor Poller {
    private var poll: Task<Void, Never>?
    let api = API()

    func start() {
        poll = Task { [api] in  // expect: uncancelled-task
            while !Task.isCancelled { await api.ping() }
        }
    }
}
