/// A report of the results of several items.
struct BatchReport: Sendable {
    enum Outcome: Sendable, Hashable {
        case done
        /// The item has failed for a reason, in one line.
        case failed(String)
        /// The work on the item was not completed. The value is the progress in percent; `nil` if the work had not begun.
        case notDone(percent: Int?)
    }

    struct Item: Sendable, Hashable {
        let name: String
        var outcome: Outcome
    }

    /// The verb in the past tense, such as "uploaded".
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

    /// The sentence about all items, such as "uploaded 2 of 5; not uploaded: c.png (37 %), d.png, e.png".
    var sentence: String {
        let count = "\(verb) \(items.count - missing.count) of \(items.count)"
        if isDone { return count }
        let names = missing.map { item in
            if case .notDone(let percent?) = item.outcome { "\(item.name) (\(percent) %)" } else { item.name }
        }
        return "\(count); not \(verb): \(names.joined(separator: ", "))"
    }

    /// The lines about failures, one per reason, such as "c.png, d.png: no server at …".
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
