import Foundation

actor Forgets {
    private var loads: [Int: Task<String, Error>] = [:]
    private var flight: Task<[Item], Error>?
    private var safe: Task<String, Never>?
    private var waiterCount = 0
    let api = API()

    func deferred(_ id: Int) async throws -> String {
        if let load = loads[id] { return try await load.value }
        let load = Task { [api] in try await api.user(id) }
        loads[id] = load
        defer { loads[id] = nil }
        return try await load.value
    }

    func caught() async throws -> [Item] {
        if let flight { return try await flight.value }
        let task = Task { [api] in try await api.feed() }
        flight = task
        do {
            return try await task.value
        } catch {
            flight = nil
            throw error
        }
    }

    func inTask(_ id: Int) async throws -> String {
        if let load = loads[id] { return try await load.value }
        let load = Task {
            defer { loads[id] = nil }
            return try await api.user(id)
        }
        loads[id] = load
        return try await load.value
    }

    func byResult(_ id: Int) async throws -> String {
        if let load = loads[id] { return try await load.value }
        let load = Task { [api] in try await api.user(id) }
        loads[id] = load
        let result = await load.result
        loads[id] = nil
        return try result.get()
    }

    // Cannot fail.
    func infallible() async -> String {
        if let safe { return await safe.value }
        let task = Task { [api] in (try? await api.token()) ?? "" }
        safe = task
        return await task.value
    }

    // The last caller cancels.
    func counted() async throws -> [Item] {
        let task: Task<[Item], Error>
        if let flight {
            task = flight
        } else {
            task = Task { [api] in try await api.feed() }
            flight = task
        }
        waiterCount += 1
        defer {
            waiterCount -= 1
            if waiterCount == 0 {
                task.cancel()
                flight = nil
            }
        }
        return try await task.value
    }

    // A task of this caller alone.
    func own() async throws -> [Item] {
        let task = Task { [api] in try await api.feed() }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
