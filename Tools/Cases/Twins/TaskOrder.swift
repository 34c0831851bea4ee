import Foundation

final class OrderedDelegate: @unchecked Sendable {
    @MainActor var lines: [String] = []
    @MainActor var title = ""
    let log = Log()
    let other = Log()
    let api = API()

    func exclusive(_ isConnected: Bool) {
        if isConnected {
            Task { @MainActor in self.title = "connected" }
        } else {
            Task { @MainActor in self.title = "lost" }
        }
    }

    func cases(_ kind: Int) {
        switch kind {
        case 0: Task { @MainActor in self.title = "a" }
        default: Task { @MainActor in self.title = "b" }
        }
    }

    func early(_ isLost: Bool) {
        if isLost {
            Task { @MainActor in self.title = "lost" }
            return
        }
        Task { @MainActor in self.title = "connected" }
    }

    func awaited() async {
        await Task { @MainActor in self.title = "a" }.value
        await Task { @MainActor in self.title = "b" }.value
    }

    func one() {
        Task { @MainActor in
            self.title = "a"
            self.lines.append("b")
        }
    }

    func twoActors() {
        Task { await log.flush() }
        Task { await other.flush() }
    }

    func tapped() {
        Task { @MainActor in self.title = "tapped" }
    }

    func remove(_ id: Int) {
        Task { await api.cancel(id) }
    }

    func asynchronous(_ line: String) async {
        await log.append(line)
    }
}
