import Foundation

func cancelsTheLoser(_ api: API) async throws -> [Item] {
    try await withThrowingTaskGroup(of: [Item].self) { group in
        group.addTask { try await api.feed() }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000_000_000)
            throw Timeout()
        }
        defer { group.cancelAll() }
        return try await group.next()!
    }
}

func cancelsAfterwards(_ api: API) async throws -> [Item] {
    try await withThrowingTaskGroup(of: [Item].self) { group in
        group.addTask { try await api.feed() }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000_000_000)
            throw Timeout()
        }
        let first = try await group.next()!
        group.cancelAll()
        return first
    }
}

// All children count.
func all(_ api: API) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await api.save("a") }
        group.addTask {
            try await Task.sleep(nanoseconds: 1_000)
            try await api.save("b")
        }
        try await group.waitForAll()
    }
}

func synchronousWait() {
    let semaphore = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { semaphore.signal() }
    semaphore.wait()
}

func onQueue() async {
    let semaphore = DispatchSemaphore(value: 0)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        DispatchQueue.global().async {
            semaphore.wait()
            continuation.resume()
        }
    }
}

actor AsyncSemaphore {
    func wait() async {}
    func signal() {}
}

func awaited(_ semaphore: AsyncSemaphore) async {
    await semaphore.wait()
    await semaphore.signal()
}

func sleepsInProduction() async throws {
    try await Task.sleep(nanoseconds: 1_000)
}
