import Support
import TaskControl

/// The results of several items: for the user, and for the sentence at the end.
///
/// It receives reports from any thread, which do not wait, in the order of the calls.
actor Batch {
    enum State: Sendable, Equatable {
        case waiting
        case running(percent: Int)
        case done
        /// The item has failed for a reason, in one line.
        case failed(String)
    }

    private let verb: String
    private let names: [String]
    private var states: [State]
    private let print: @Sendable (String) -> Void
    private let queue = ActorQueue<Batch>(name: "batch")

    /// Creates a batch of items. `verb` is in the past tense, such as "uploaded".
    init(verb: String, names: [String], print: @escaping @Sendable (String) -> Void = Terminal.print) {
        (self.verb, self.names, self.print) = (verb, names, print)
        states = names.map { _ in .waiting }
        queue.adoptExecutionContext(of: self)
    }

    /// Reports the state of an item. Each quarter of its progress is a line.
    nonisolated func report(_ index: Int, _ state: State) {
        queue.addTask { batch in batch.change(index, state) }
    }

    /// Returns the sentence about all items after all earlier reports, such as "uploaded 2 of 5; not uploaded: c.png (37 %), d.png, e.png"; `nil`
    /// if all are done.
    @Sendable nonisolated func notDone() async -> String? {
        await queue.addTask { batch in batch.states.allSatisfy { $0 == .done } ? nil : batch.sentence }.value
    }

    private func change(_ index: Int, _ state: State) {
        let before = states[index]
        states[index] = state
        switch (before, state) {
        case (.running(let old), .running(let new)) where old / 25 == new / 25: break
        case (_, .running(let percent)): print("\(names[index]): \(percent / 25 * 25) %")
        case (_, .failed(let reason)): print("\(names[index]): \(reason)")
        case (_, .done): print("\(names[index]): \(verb)")
        case (_, .waiting): break
        }
    }

    private var sentence: String {
        let missing = states.indices.filter { states[$0] != .done }
        let items = missing.map { index -> String in
            if case .running(let percent) = states[index] { "\(names[index]) (\(percent) %)" } else { names[index] }
        }
        return
            "\(verb) \(states.count - missing.count) of \(states.count); not \(verb): \(items.joined(separator: ", "))"
    }
}
