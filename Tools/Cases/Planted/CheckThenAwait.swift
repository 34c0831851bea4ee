import Foundation

actor Cache {
    var entries: [Int: String] = [:]
    var token: String?
    var count = 0
    var isReady = false
    var listeners: Set<Int> = []
    var balance = 100
    var items: [Item] = []
    let api = API()

    func inBranch(_ id: Int) async throws {
        if entries[id] == nil {
            entries[id] = try await api.user(id)  // expect: check-then-await
        }
    }

    func earlyReturn(_ id: Int) async throws -> String {
        if let known = entries[id] { return known }
        let name = try await api.user(id)
        entries[id] = name  // expect: check-then-await
        return name
    }

    func guarded() async throws {
        guard token == nil else { return }
        token = try await api.token()  // expect: check-then-await
    }

    func shorthand() async throws -> String {
        if let token { return token }
        let fresh = try await api.token()
        token = fresh  // expect: check-then-await
        return fresh
    }

    func flag() async {
        if !isReady {
            await api.ping()
            isReady = true  // expect: check-then-await
        }
    }

    func limited() async {
        guard count < 3 else { return }
        await api.ping()
        count += 1  // expect: check-then-await
    }

    func withdraw(_ amount: Int) async -> Bool {
        guard balance >= amount else { return false }
        await api.ping()
        balance -= amount  // expect: check-then-await
        return true
    }

    func contains(_ id: Int) async {
        if listeners.contains(id) { return }
        await api.ping()
        listeners.insert(id)  // expect: check-then-await
    }

    func inDo() async {
        if token != nil { return }
        do {
            token = try await api.token()  // expect: check-then-await
        } catch {
            print(error)
        }
    }

    func empty() async throws -> [Item] {
        if items.isEmpty {
            let found = try await api.feed()
            self.items = found  // expect: check-then-await
        }
        return items
    }
}

@MainActor final class Model {
    var items: [Item] = []
    var user: String?
    let api = API()

    func load() async throws {
        guard items.isEmpty else { return }
        items = try await api.feed()  // expect: check-then-await
    }

    func loadUser() async throws -> String {
        if let user = user { return user }
        let name = try await api.user(1)
        user = name  // expect: check-then-await
        return name
    }
}
