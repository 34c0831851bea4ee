/// Shows what an act is doing: on a terminal a line that is overwritten as the act continues, elsewhere one line when it is over.
struct Progress: Sendable {
    let chapter: String
    let act: String

    private static let width = 99

    /// Follows the server's counters until the task is cancelled; says nothing after that, even if a change was still to be shown.
    @MainActor
    func follow(_ visits: Observed<Visits>) async {
        guard Terminal.isLive else { return }
        for await _ in visits.changes where !Task.isCancelled { update(visits.value) }
    }

    /// Shows the progress of an act that has no server.
    func update(_ state: some CustomStringConvertible) {
        if Terminal.isLive { show(state) }
    }

    func finish(_ state: some CustomStringConvertible) {
        show(state)
    }

    static func clear() {
        if Terminal.isLive { Terminal.write("\r\u{1B}[K") }
    }

    private func show(_ state: some CustomStringConvertible) {
        let line = "\(chapter), \(act): \(state)"
        if Terminal.isLive {
            Terminal.write("\r\(line.prefix(Self.width))\u{1B}[K")
        } else {
            Terminal.print(line)
        }
    }
}
