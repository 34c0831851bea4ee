import Foundation

struct Patient {
    let api = API()

    func right() async throws -> [Item] {
        for attempt in 0..<3 {
            do {
                return try await api.feed()
            } catch {
                try await Task.sleep(nanoseconds: UInt64(attempt) * 1_000_000_000)
            }
        }
        return try await api.feed()
    }

    func letsOut() async throws -> [Item] {
        var failure: Error = Timeout()
        for _ in 0..<3 {
            do {
                return try await api.feed()
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                failure = error
                try? await Task.sleep(nanoseconds: 1_000_000_000)
            }
        }
        throw failure
    }

    func limited() async throws -> [Item] {
        var attempt = 0
        while true {
            do {
                return try await api.feed()
            } catch {
                attempt += 1
                if attempt >= 3 { throw error }
                try await Task.sleep(nanoseconds: 1_000_000_000)
            }
        }
    }

    func polls() async throws {
        while true {
            await api.ping()
            try await Task.sleep(nanoseconds: 1_000_000_000)
        }
    }

    func pollsUntilCancelled() async {
        while !Task.isCancelled {
            await api.ping()
            try? await Task.sleep(nanoseconds: 1_000_000_000)
        }
    }

    func endsAfterSleep() async {
        while true {
            await api.ping()
            guard (try? await Task.sleep(nanoseconds: 1_000_000_000)) != nil else { return }
        }
    }

    // A list of things to do, and no retry.
    func each(_ names: [String]) async {
        for name in names {
            do { try await api.save(name) } catch { print(error) }
        }
    }

    func pages() async {
        for page in 1...3 {
            do { print(try await api.user(page)) } catch { print(error) }
        }
    }

    // The first that answers.
    func fallback(_ names: [String]) async throws -> [Item] {
        for name in names {
            do { return try await api.search(name) } catch { continue }
        }
        throw Timeout()
    }

    func stream() async {
        for await event in api.events() {
            print(event)
            try? await Task.sleep(nanoseconds: 1_000)
        }
    }

    func supervises(_ socket: Socket) async throws {
        while true {
            do {
                try await socket.connect()
            } catch {
                try await Task.sleep(nanoseconds: 1_000_000_000)
            }
        }
    }

    func endsWithError() async {
        while true {
            do {
                try await Task.sleep(nanoseconds: 1_000)
                await api.ping()
            } catch {
                return
            }
        }
    }
}
