/// The results of several things, in words.
struct BatchReport: Sendable {
    enum Outcome: Sendable, Hashable {
        case done
        /// In one line, why.
        case failed(String)
        /// - Parameter percent: The progress, if it had begun.
        case notDone(percent: Int?)
    }

    struct Item: Sendable, Hashable {
        let name: String
        var outcome: Outcome
    }

    /// In the past, such as "uploaded".
    let verb: String
    var items: [Item]

    init(verb: String, _ items: [Item]) {
        self.verb = verb
        self.items = items
    }

    init(verb: String, names: [String]) {
        self.init(verb: verb, names.map { Item(name: $0, outcome: .notDone(percent: nil)) })
    }

    var isDone: Bool { missing.isEmpty }

    private var missing: [Item] { items.filter { $0.outcome != .done } }

    /// "uploaded 2 of 5; not uploaded: c.png (37 %), d.png, e.png"
    var sentence: String {
        let count = "\(verb) \(items.count - missing.count) of \(items.count)"
        if isDone { return count }
        let names = missing.map { item in
            if case .notDone(let percent?) = item.outcome { "\(item.name) (\(percent) %)" } else { item.name }
        }
        return "\(count); not \(verb): \(names.joined(separator: ", "))"
    }

    /// One line a reason: "c.png, d.png: no server at …"
    var complaints: [String] {
        var reasons: [(reason: String, names: [String])] = []
        for item in items {
            guard case .failed(let reason) = item.outcome else { continue }
            if let index = reasons.firstIndex(where: { $0.reason == reason }) {
                reasons[index].names.append(item.name)
            } else {
                reasons.append((reason, [item.name]))
            }
        }
        return reasons.map { "\($0.names.joined(separator: ", ")): \($0.reason)" }
    }
}
