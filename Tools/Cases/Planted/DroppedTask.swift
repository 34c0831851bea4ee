import Foundation

final class FeedModel: @unchecked Sendable {
    var items: [Item] = []
    var isLoading = false
    let api = API()

    func explicit() {
        Task {  // expect: dropped-task
            self.items = try await self.api.feed()
        }
    }

    func implicit() {
        Task {  // expect: dropped-task
            items = try await api.feed()
        }
    }

    func several() {
        Task {  // expect: dropped-task
            await api.ping()
            await api.ping()
            isLoading = false
        }
    }

    func stream() {
        Task {  // expect: dropped-task
            for await event in api.events() { handle(event) }
        }
    }

    func endless() {
        Task {  // expect: dropped-task
            while true {
                try await Task.sleep(nanoseconds: 1_000_000_000)
                handle("tick")
            }
        }
    }

    func detached() {
        Task.detached {  // expect: dropped-task
            while !Task.isCancelled {
                await self.api.ping()
            }
        }
    }

    func guarded() {
        Task { [weak self] in  // expect: dropped-task
            guard let self else { return }
            for await event in api.events() { handle(event) }
        }
    }

    func renamed() {
        Task { [weak self] in  // expect: dropped-task
            guard let strongSelf = self else { return }
            for await event in strongSelf.api.events() { strongSelf.handle(event) }
        }
    }

    func unusedVariable() {
        let task = Task {  // expect: dropped-task
            for await event in api.events() { handle(event) }
        }
    }

    func optional() {
        Task { [weak self] in  // expect: dropped-task
            await self?.observe()
        }
    }

    func called() {
        Task {  // expect: dropped-task
            await observe()
        }
    }

    func delayed() {
        Task {  // expect: dropped-task
            try? await Task.sleep(nanoseconds: 1_000)
            handle("late")
        }
    }

    func failing() {
        Task {  // expect: dropped-task
            do { try await api.save("draft") } catch { items = [] }
        }
    }

    func withPriority() {
        Task(priority: .background) { [self] in  // expect: dropped-task
            let found = try await api.feed()
            items = found
        }
    }

    func observe() async {
        for await event in api.events() { handle(event) }
    }

    func handle(_ event: String) {}
}

actor Monitor {
    var last = ""
    let api = API()

    func start() {
        Task {  // expect: dropped-task
            for await event in api.events() { last = event }
        }
    }
}
