/// The disk of a node: the values that the node has stored, and those of them that would survive a crash. A pure state machine.
struct DiskStateMachine {
    private struct Write {
        let number: Int
        let key: String
        /// The new value; `nil` if the write removes the key.
        let value: (any Sendable)?
    }

    /// The values that the node reads, by key.
    private var current: [String: any Sendable] = [:]
    /// The values that survive every crash, by key.
    private var durable: [String: any Sendable] = [:]
    /// The writes that ``sync(before:)`` has not made durable, in the order of the calls.
    private var unsynced: [Write] = []
    private var nextNumber = 0
    private let losesUnsyncedWrites: Bool

    init(losesUnsyncedWrites: Bool) {
        self.losesUnsyncedWrites = losesUnsyncedWrites
    }

    var keys: [String] { current.keys.sorted() }

    func read(_ key: String) -> (any Sendable)? { current[key] }

    mutating func write(_ value: (any Sendable)?, for key: String) {
        current[key] = value
        guard losesUnsyncedWrites else { return }
        unsynced.append(Write(number: nextNumber, key: key, value: value))
        nextNumber += 1
    }

    /// Returns a number that is greater than the numbers of all writes so far. Pass this number to ``sync(before:)`` to
    /// make these writes durable.
    func mark() -> Int { nextNumber }

    /// Makes those writes durable that were made before an earlier call of ``mark()``.
    ///
    /// - Parameter mark: The number that this call of ``mark()`` has returned.
    ///
    /// - Returns: The durable values that these writes have replaced, so that the caller can release them without
    ///   holding a lock.
    mutating func sync(before mark: Int) -> [any Sendable] {
        let count = unsynced.prefix { $0.number < mark }.count
        var replaced: [any Sendable] = []
        for write in unsynced.prefix(count) {
            if let old = durable[write.key] { replaced.append(old) }
            durable[write.key] = write.value
        }
        unsynced.removeFirst(count)
        return replaced
    }

    /// Simulates a crash: makes each unsynced write durable or drops it, and resets the readable values to the durable ones.
    ///
    /// - Parameter keeps: Called for each unsynced write, in the order of the writes. Returns whether the write has
    ///   become durable.
    mutating func crash(keeps: () -> Bool) {
        guard losesUnsyncedWrites else { return }
        for write in unsynced where keeps() { durable[write.key] = write.value }
        unsynced = []
        current = durable
    }
}
