import Foundation

actor CarefulCache {
    var entries: [Int: String] = [:]
    var loads: [Int: Task<String, Error>] = [:]
    var token: String?
    var isLoading = false
    var count = 0
    let api = API()

    // The state changes before the await.
    func marked() async throws {
        guard !isLoading else { return }
        isLoading = true
        defer { isLoading = false }
        token = try await api.token()
    }

    func counted() async {
        guard count < 3 else { return }
        count += 1
        await api.ping()
        count -= 1
    }

    func shared(_ id: Int) async throws -> String {
        if let known = entries[id] { return known }
        if let load = loads[id] { return try await load.value }
        let load = Task { [api] in try await api.user(id) }
        loads[id] = load
        defer { loads[id] = nil }
        let name = try await load.value
        entries[id] = name
        return name
    }

    // The check is made again.
    func checkedAgain(_ id: Int) async throws -> String {
        if let known = entries[id] { return known }
        let name = try await api.user(id)
        if let other = entries[id] { return other }
        entries[id] = name
        return name
    }

    func withoutAwait(_ id: Int, _ name: String) {
        if entries[id] == nil { entries[id] = name }
    }

    // Always replaced: nothing is checked.
    func refresh() async throws {
        token = try await api.token()
    }

    func otherBranch() async throws {
        if token == nil {
            await api.ping()
        } else {
            token = nil
        }
    }

    func begins() async throws {
        guard token == nil else { return }
        begin()
        token = try await api.token()
    }

    func begin() { isLoading = true }
}

// No actor: its caller decides who calls it when.
final class Plain {
    var token: String?
    let api = API()
    func load() async throws {
        if token == nil { token = try await api.token() }
    }
}

struct Value {
    var token: String?
    let api = API()
    mutating func load() async throws {
        if token == nil { token = try await api.token() }
    }
}

@MainActor final class Locals {
    let api = API()
    func load() async throws -> String {
        var token: String?
        if token == nil { token = try await api.token() }
        return token ?? ""
    }
}
