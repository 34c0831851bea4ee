internal import TaskControl
internal import _TaskControlShared

extension TaskSnapshot: CustomStringConvertible {
    /// The snapshot as a text: a tree with one line per owner, task and call. Warnings come first.
    ///
    /// ```
    /// 2 owners, 3 tasks and calls
    /// ! #3.1 "save" was cancelled 3.000 s ago, and still runs
    /// TaskStore "documents" #3, for 12.100 s
    /// ├ #3.1 "save" key draft runs for 4.000 s, cancelled 3.000 s ago
    /// │ └ #7 retry "save" runs for 3.200 s, attempt 2
    /// └ #3.2 "save" key draft waits for 1.200 s, for #3.1
    /// CircuitBreaker "search" #8, for 60.000 s, open for 2.000 s, 7 calls refused, the last 0.100 s ago
    /// ```
    public var description: String {
        guard isTracking else {
            return "Nothing is tracked. Call TaskSnapshot.startTracking() when the program begins."
        }
        var lines = [summary]
        let names = names
        lines += warnings.map { warning in
            "! " + warning.text { id in names[id].map { "\(id) \"\($0.flat)\"" } ?? id.description }
        }
        for owner in owners {
            lines.append(owner.line)
            Self.add(owner.entries, "", within: owner.primitive, &lines)
        }
        if !others.isEmpty {
            lines.append("without an owner")
            Self.add(others, "", &lines)
        }
        return lines.joined(separator: "\n")
    }

    private var summary: String {
        func count(_ entries: [Entry]) -> Int { entries.reduce(entries.count) { $0 + count($1.calls) } }
        let entries = owners.reduce(count(others)) { $0 + count($1.entries) }
        let owners = "\(owners.count) owner\(owners.count == 1 ? "" : "s")"
        return "\(owners), \(entries == 1 ? "1 task or call" : "\(entries) tasks and calls")"
            + (omittedCount > 0 ? "; \(omittedCount) more were too many" : "")
            + (droppedCount > 0 ? "; \(droppedCount) dropped so far" : "")
    }

    /// The names of the tasks and calls that have one.
    private var names: [TaskEvent.Identity: String] {
        var names: [TaskEvent.Identity: String] = [:]
        func add(_ entries: [Entry]) {
            for entry in entries {
                names[entry.id] = entry.name
                add(entry.calls)
            }
        }
        for owner in owners { add(owner.entries) }
        add(others)
        return names
    }

    private static func add(
        _ entries: [Entry],
        _ indent: String,
        within owner: TaskEvent.Primitive? = nil,
        _ lines: inout [String]
    ) {
        for (index, entry) in entries.enumerated() {
            let isLast = index == entries.count - 1
            lines.append(indent + (isLast ? "└ " : "├ ") + entry.line(within: owner))
            add(entry.calls, indent + (isLast ? "  " : "│ "), &lines)
        }
    }
}

extension TaskSnapshot.Owner {
    fileprivate var line: String {
        let name = name.map { "\"\($0.flat)\"" }
        var words = [primitive.description, name, id.description].compactMap(\.self).joined(separator: " ")
        words += ", for \(age.inSeconds)"
        if permitsOut > 0 { words += ", \(permitsOut) permits out" }
        if let circuit { words += ", \(circuit)" }
        if let lastRefusalAge {
            words +=
                ", \(refusedCount) call\(refusedCount == 1 ? "" : "s") refused, the last \(lastRefusalAge.inSeconds) ago"
        }
        if isPaused { words += ", paused" }
        if isDeallocated { words += ", deallocated" } else if isClosed { words += ", closed" }
        return words
    }
}

extension TaskSnapshot.Entry {
    /// Returns the line of the entry in the description of the snapshot.
    ///
    /// - Parameter owner: The primitive of the owner, which is not repeated, since the line of the owner contains it;
    ///   `nil` if the entry has no owner.
    fileprivate func line(within owner: TaskEvent.Primitive?) -> String {
        var words = "\(id)"
        if primitive != owner { words += " \(primitive)" }
        if let name { words += " \"\(name.flat)\"" }
        if let key { words += " key \(key.flat)" }
        if let detail { words += " \(detail.flat)" }
        words += " \(phase == .waiting ? "waits" : "runs") for \(phaseAge.inSeconds)"
        if let delay { words += " of \(delay.inSeconds)" }
        if let attempt { words += ", attempt \(attempt)" }
        if !waitsFor.isEmpty {
            words += "\(phase == .waiting ? "," : ", waits") for \(waitsFor.map(\.description).joined(separator: ", "))"
        }
        if let begunIn { words += ", begun in \(begunIn)" }
        if waiterCount > 0 { words += ", \(waiterCount) wait\(waiterCount == 1 ? "s" : "") for it" }
        if let cancelledAge { words += ", cancelled \(cancelledAge.inSeconds) ago" }
        if let cancellationCause { words += " (\(cancellationCause.flat))" }
        return words
    }
}

extension TaskSnapshot.Circuit: CustomStringConvertible {
    /// The state of the circuit breaker and its duration, such as "open for 2.000 s".
    public var description: String {
        switch self {
        case .open(let age): "open for \(age.inSeconds)"
        case .halfOpen(let age): "half-open for \(age.inSeconds)"
        }
    }
}

extension TaskSnapshot.Warning: CustomStringConvertible {
    /// The warning as a sentence with the identities of its tasks and calls, such as "#3.1 was cancelled 3.000 s ago,
    /// and still runs".
    public var description: String { text(naming: \.description) }

    /// Returns the warning as a sentence.
    ///
    /// - Parameter label: Returns the text that stands for a task or call in the sentence, such as "#3.1".
    fileprivate func text(naming label: (TaskEvent.Identity) -> String) -> String {
        switch self {
        case .cancelledButRunning(let id, let since):
            "\(label(id)) was cancelled \(since.inSeconds) ago, and still runs"
        case .dropped(let id): "\(label(id)) was dropped without an owner, and still runs"
        case .waitsForItself(let ids):
            "\(ids.first.map(label) ?? "nothing") waits for itself: \((ids + ids.prefix(1)).map(label).joined(separator: " → "))"
        }
    }
}

extension Duration {
    /// The duration in seconds with three decimals. A decoded snapshot may contain any duration: a negative one counts
    /// as zero.
    fileprivate var inSeconds: String {
        let (seconds, attoseconds) = min(max(.zero, self), .seconds(Int64.max)).components
        let digits = String(attoseconds / 1_000_000_000_000_000)
        return "\(seconds).\(String(repeating: "0", count: 3 - digits.count))\(digits) s"
    }
}
