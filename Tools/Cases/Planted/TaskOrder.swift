import Foundation

final class Delegate: @unchecked Sendable {
    @MainActor var lines: [String] = []
    @MainActor var title = ""
    @MainActor var isDone = false
    let log = Log()
    let socket = Socket()

    func didConnect() {
        Task { @MainActor in self.title = "connected" }
        Task { @MainActor in self.isDone = true }  // expect: task-order
    }

    func twoLines() {
        Task { await log.append("a") }
        Task { await log.append("b") }  // expect: task-order
    }

    func mainActorRun() {
        Task { await MainActor.run { self.title = "a" } }
        Task { await MainActor.run { self.title = "b" } }  // expect: task-order
    }

    func threeTasks(_ isLast: Bool) {
        Task { @MainActor in self.title = "a" }
        if isLast {
            Task { @MainActor in self.isDone = true }  // expect: task-order
        }
    }

    func session(_ session: Session, didReceive data: String) {
        Task { @MainActor in self.lines.append(data) }  // expect: task-order
    }

    func stream(didUpdate value: Int) {
        Task { @MainActor [weak self] in  // expect: task-order
            self?.title = "\(value)"
        }
    }

    func connect() {
        socket.onMessage = { [weak self] message in
            Task { @MainActor in  // expect: task-order
                self?.lines.append(message)
            }
        }
    }

    func each(_ lines: [String]) {
        for line in lines {
            Task { await log.append(line) }  // expect: task-order
        }
    }

    func record(_ line: String) {
        Task { await log.write(line) }  // expect: task-order
    }

    func capture(didOutput sample: String) {
        Task { [log] in await log.append(sample) }  // expect: task-order
    }
}

actor Journal {
    var lines: [String] = []
    func append(_ line: String) { lines.append(line) }

    nonisolated func write(_ line: String) {
        Task { await append(line) }  // expect: task-order
    }

    nonisolated func writeLater(_ line: String) -> Task<Void, Never> {
        Task { await append(line) }  // expect: task-order
    }
}
