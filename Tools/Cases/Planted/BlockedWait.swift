import Foundation

func withoutCancel(_ api: API) async throws -> [Item] {
    try await withThrowingTaskGroup(of: [Item].self) { group in  // expect: blocked-wait
        group.addTask { try await api.feed() }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000_000_000)
            throw Timeout()
        }
        return try await group.next()!
    }
}

func withoutCancelOptional(_ api: API) async -> [Item]? {
    await withTaskGroup(of: [Item]?.self) { group in  // expect: blocked-wait
        group.addTask { try? await api.feed() }
        group.addTask {
            try? await Task.sleep(nanoseconds: 1_000_000_000)
            return nil
        }
        let first = await group.next() ?? nil
        return first
    }
}

func firstOfLoop(_ api: API) async throws -> String {
    try await withThrowingTaskGroup(of: String.self) { group in  // expect: blocked-wait
        group.addTask { try await api.token() }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000_000)
            throw Timeout()
        }
        for try await token in group { return token }
        throw Timeout()
    }
}

func stubbornLoser(_ session: Session) async throws -> String {
    try await withThrowingTaskGroup(of: String.self) { group in  // expect: blocked-wait
        group.addTask {
            await withCheckedContinuation { continuation in
                session.send("a") { text, _ in continuation.resume(returning: text ?? "") }
            }
        }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000_000)
            throw Timeout()
        }
        defer { group.cancelAll() }
        return try await group.next()!
    }
}

func legacy(_ session: Session) async -> String {
    await withCheckedContinuation { continuation in
        session.send("a") { text, _ in continuation.resume(returning: text ?? "") }
    }
}

func stubbornCall(_ session: Session) async throws -> String {
    try await withThrowingTaskGroup(of: String.self) { group in  // expect: blocked-wait
        group.addTask { await legacy(session) }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000_000)
            throw Timeout()
        }
        let first = try await group.next()!
        group.cancelAll()
        return first
    }
}

func semaphoreInAsync() async {
    let semaphore = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { semaphore.signal() }
    semaphore.wait()  // expect: blocked-wait
}

func groupInTask() -> Task<Void, Never> {
    Task {
        let group = DispatchGroup()
        group.enter()
        DispatchQueue.global().async { group.leave() }
        group.wait()  // expect: blocked-wait
    }
}

final class Bridge: @unchecked Sendable {
    private let lock = DispatchSemaphore(value: 1)
    let api = API()

    func guarded() async {
        lock.wait()  // expect: blocked-wait
        await api.ping()
        lock.signal()
    }

    func synchronous() -> [Item] {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var items: [Item] = []
        Task { [api] in
            items = (try? await api.feed()) ?? []
            done.signal()
        }
        done.wait()  // expect: blocked-wait
        return items
    }

    func inGroup() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let semaphore = DispatchSemaphore(value: 0)
                _ = semaphore.wait(timeout: .now() + 1)  // expect: blocked-wait
            }
        }
    }
}
