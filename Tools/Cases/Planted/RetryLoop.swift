import Foundation

struct Retrying {
    let api = API()

    func withoutDelay() async throws -> [Item] {
        for _ in 0..<3 {  // expect: retry-loop
            do {
                return try await api.feed()
            } catch {
                try Task.checkCancellation()
            }
        }
        throw Timeout()
    }

    func optional() async throws -> [Item] {
        for _ in 1...5 {  // expect: retry-loop
            if let items = try? await api.feed() { return items }
        }
        throw Timeout()
    }

    func withoutLimit() {
        Task { [api] in
            while true {  // expect: retry-loop
                do {
                    return try await api.feed()
                } catch {
                    try await Task.sleep(nanoseconds: 1_000_000_000)
                }
            }
        }
    }

    func swallows() async throws -> [Item] {
        var failure: Error = Timeout()
        for attempt in 0..<3 {  // expect: retry-loop
            do {
                return try await api.feed()
            } catch {
                failure = error
                try? await Task.sleep(nanoseconds: UInt64(attempt) * 1_000_000_000)
            }
        }
        throw failure
    }

    func forever() async -> [Item] {
        while true {  // expect: retry-loop
            do { return try await api.feed() } catch { print(error) }
        }
    }

    func counted() async throws -> [Item] {
        var attempts = 0
        while attempts < 5 {  // expect: retry-loop
            do {
                return try await api.feed()
            } catch {
                attempts += 1
            }
        }
        throw Timeout()
    }

    func reconnects(_ socket: Socket) async {
        while true {  // expect: retry-loop
            do {
                try await socket.connect()
                while true { print(try await socket.receive()) }
            } catch {
                print("again")
            }
        }
    }

    func polls() async {
        while true {
            await api.ping()
            try? await Task.sleep(nanoseconds: 1_000_000_000)  // expect: retry-loop
        }
    }

    func pollsInTask() -> Task<Void, Never> {
        Task { [api] in
            while true {
                try? await Task.sleep(nanoseconds: 1_000_000_000)  // expect: retry-loop
                await api.ping()
            }
        }
    }

    func waits(_ isReady: () -> Bool) async {
        while !isReady() {
            try? await Task.sleep(nanoseconds: 1_000_000)  // expect: retry-loop
        }
    }

    func sleepsInDo() async {
        while true {
            do {
                try await Task.sleep(nanoseconds: 1_000_000)  // expect: retry-loop
            } catch {}
            await api.ping()
        }
    }

    func repeated() async -> [Item]? {
        var items: [Item]?
        repeat {  // expect: retry-loop
            do { items = try await api.feed(); break } catch { continue }
        } while true
        return items
    }
}
