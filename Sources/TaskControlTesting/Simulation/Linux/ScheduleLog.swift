#if os(Linux)
import CTaskControlTesting

/// The last steps of a schedule, for a reader.
struct ScheduleLog {
    enum Event {
        case sleeps(Int, until: Duration)
        /// What came of its step.
        case came(Int, String)
        /// - for: The task on whose behalf.
        case actor(for: Int?)
        case note(Int?, String)
        case action
    }

    static let length = 40

    private var events: [(now: Duration, event: Event)] = []
    private var count = 0

    mutating func append(_ event: Event, at now: Duration) {
        if events.count < Self.length {
            events.append((now, event))
        } else {
            events[count % Self.length] = (now, event)
        }
        count += 1
    }

    func text(_ ledger: TaskLedger) -> String {
        let first = count % max(events.count, 1)
        let inOrder = count > events.count ? events[first...] + events[..<first] : events[...]
        let lines = inOrder.map { "  \(Self.milliseconds($0.now))  \(Self.text($0.event, ledger))" }
        let title = count > events.count ? "the last \(events.count) of \(count) steps" : "the \(count) steps"
        return "\(title) (virtual time, who ran, what came of it):\n" + lines.joined(separator: "\n")
    }

    private static func text(_ event: Event, _ ledger: TaskLedger) -> String {
        switch event {
        case .sleeps(let task, let deadline): "\(ledger.label(task)) sleeps until \(milliseconds(deadline))"
        case .came(let task, let what): "\(ledger.label(task)) \(what)"
        case .actor(let task): "an actor took its turn" + (task.map { ", for \(ledger.label($0))" } ?? "")
        case .note(let task, let text): "“\(text)”" + (task.map { ", by \(ledger.label($0))" } ?? "")
        case .action: "an action at a moment that the seed decides"
        }
    }

    static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        let fraction = String(microseconds % 1_000)
        return "\(microseconds / 1_000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) ms"
    }
}
#endif
