/// Shows what an act is doing: on a terminal a line that is written over as the server counts, elsewhere one line when the act is over.
struct Progress: Sendable {
    let chapter: String
    let act: String

    private static let width = 99

    /// Follows the server's counters until the task is cancelled; says nothing after that, even if a change was still to be shown.
    @MainActor
    func follow(_ visits: Observed<Visits>) async {
        guard Terminal.isLive else { return }
        for await _ in visits.changes where !Task.isCancelled { show(visits.value) }
    }

    @MainActor
    func finish(_ visits: Visits) {
        show(visits)
    }

    static func clear() {
        if Terminal.isLive { Terminal.write("\r\u{1B}[K") }
    }

    private func show(_ visits: Visits) {
        let line = "\(chapter), \(act): \(visits)"
        if Terminal.isLive {
            Terminal.write("\r\(line.prefix(Self.width))\u{1B}[K")
        } else {
            Terminal.print(line)
        }
    }
}
