import Foundation

actor KeepsFailures {
    private var loads: [Int: Task<String, Error>] = [:]
    private var flight: Task<[Item], Error>?
    private var other: Task<String, Error>?
    private var named: [String: Task<[Item], Error>] = [:]
    enum Entry {
        case running(Task<String, Error>)
        case ready(String)
    }
    private var entries: [Int: Entry] = [:]
    let api = API()

    func byKey(_ id: Int) async throws -> String {
        if let load = loads[id] { return try await load.value }
        let load = Task { [api] in try await api.user(id) }  // expect: shared-task
        loads[id] = load
        return try await load.value
    }

    func single() async throws -> [Item] {
        if let flight { return try await flight.value }
        let task = Task { [api] in try await api.feed() }  // expect: shared-task
        flight = task
        return try await task.value
    }

    // Removed after a success only.
    func removedOnSuccess() async throws -> String {
        if let other { return try await other.value }
        let task = Task { [api] in try await api.token() }  // expect: shared-task
        other = task
        let token = try await task.value
        other = nil
        return token
    }

    func direct(_ name: String) async throws -> [Item] {
        if let running = named[name] {
            return try await running.value
        }
        named[name] = Task { [api] in try await api.search(name) }  // expect: shared-task
        return try await named[name]!.value
    }

    func inCases(_ id: Int) async throws -> String {
        if let entry = entries[id] {
            switch entry {
            case .ready(let name): return name
            case .running(let task): return try await task.value
            }
        }
        let task = Task { [api] in try await api.user(id) }  // expect: shared-task
        entries[id] = .running(task)
        let name = try await task.value
        entries[id] = .ready(name)
        return name
    }
}

@MainActor final class KeepsToken {
    private var refresh: Task<String, any Error>?
    let api = API()

    func token() async throws -> String {
        if let refresh = refresh { return try await refresh.value }
        let refresh = Task { [api] in try await api.token() }  // expect: shared-task
        self.refresh = refresh
        return try await refresh.value
    }
}

actor EndsWithFirst {
    private var flight: Task<[Item], Error>?
    private var loads: [Int: Task<String, Error>] = [:]
    let api = API()

    func load() async throws -> [Item] {
        if let flight { return try await flight.value }
        let task = Task { [api] in try await api.feed() }
        flight = task
        defer { flight = nil }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()  // expect: shared-task
        }
    }

    func byKey(_ id: Int) async throws -> String {
        if let running = loads[id] { return try await running.value }
        let load = Task { [api] in try await api.user(id) }
        loads[id] = load
        defer {
            load.cancel()  // expect: shared-task
            loads[id] = nil
        }
        return try await load.value
    }
}

actor FailsForAll {
    private var waiters: [CheckedContinuation<String, Never>] = []
    private var isLoading = false
    let api = API()

    func token() async throws -> String {
        if isLoading {
            return await withCheckedContinuation { waiters.append($0) }
        }
        isLoading = true
        let token = try await api.token()  // expect: shared-task
        for waiter in waiters { waiter.resume(returning: token) }
        waiters = []
        isLoading = false
        return token
    }
}

actor Images {
    private var downloads: [String: Task<String, Error>] = [:]
    let api = API()

    func image(_ name: String) async throws -> String {
        if let task = downloads[name] {
            return try await task.value
        }
        let task = Task<String, Error> { [api] in  // expect: shared-task
            let items = try await api.search(name)
            return items.first?.name ?? ""
        }
        downloads[name] = task
        let text = try await task.value
        downloads.removeValue(forKey: name)
        return text
    }
}
