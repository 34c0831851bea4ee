import Foundation

@MainActor final class CarefulModel {
    var items: [Item] = []
    var error: Error?
    var isLoading = false
    let api = API()

    func caught() async {
        do {
            items = try await api.feed()
        } catch is CancellationError {
        } catch {
            self.error = error
        }
    }

    func checked() async {
        do {
            items = try await api.feed()
        } catch {
            if error is CancellationError { return }
            self.error = error
        }
    }

    func guarded() async {
        do {
            items = try await api.feed()
        } catch {
            guard !Task.isCancelled else { return }
            self.error = error
        }
    }

    func logged() async {
        do {
            items = try await api.feed()
        } catch {
            print("error: \(error)")
        }
    }

    func ended() async {
        do {
            items = try await api.feed()
        } catch {
            isLoading = false
        }
    }

    // Nothing is awaited.
    func synchronous(_ read: () throws -> [Item]) {
        do {
            items = try read()
        } catch {
            self.error = error
        }
    }

    func rethrown() async throws {
        do {
            items = try await api.feed()
        } catch {
            throw Timeout()
        }
    }
}

// No user sees what a worker keeps.
actor Worker {
    enum State { case idle, failed(Error) }
    var state = State.idle
    let api = API()

    func run() async {
        do { try await api.save("") } catch { state = .failed(error) }
    }
}
