import TaskControlTesting

/// The words that are typed, and the order in which the server answers: the same for all acts of a seed.
///
/// Each query is answered faster or slower, as the seed has it, in the script's own milliseconds; what is played is the *order* that
/// follows from them, so the machine's speed has no say. One early query always meets a cold cache and is answered last of all.
struct SearchScript: Sendable {
    struct Keystroke: Sendable {
        /// The text in the field after it.
        let query: String
        let endsWord: Bool
        /// The queries whose answers come before the next key is struck.
        var answersBeforeNext: [String] = []
    }

    private static let text = "swift unstructured concurrency"
    private static let interval = 100
    private static let delays = 20...900

    let keystrokes: [Keystroke]
    let slowestQuery: String
    var lastQuery: String { Self.text }

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let ends = Self.text.indices.map { Self.text.index(after: $0) }
        var keystrokes = ends.map { end in
            Keystroke(query: String(Self.text[..<end]), endsWord: end == Self.text.endIndex || Self.text[end] == " ")
        }
        var due = keystrokes.indices.map { $0 * Self.interval + Int.random(in: Self.delays, using: &generator) }
        let slowest = Int.random(in: 0..<keystrokes.count / 2, using: &generator)
        due[slowest] = keystrokes.count * Self.interval + Self.delays.upperBound
        for answered in due.indices.sorted(by: { due[$0] < due[$1] }) {
            let last = min(due[answered] / Self.interval, keystrokes.count - 1)
            keystrokes[last].answersBeforeNext.append(keystrokes[answered].query)
        }
        self.keystrokes = keystrokes
        slowestQuery = keystrokes[slowest].query
    }
}
