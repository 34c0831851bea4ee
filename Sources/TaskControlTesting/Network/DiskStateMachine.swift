/// The values that a node has stored, and those of them that a crash would leave. Pure.
struct DiskStateMachine {
    private struct Write {
        let number: Int
        let key: String
        /// `nil`: the key is removed.
        let value: (any Sendable)?
    }

    /// The values that the node reads.
    private var current: [String: any Sendable] = [:]
    /// The values that a crash leaves in any case.
    private var durable: [String: any Sendable] = [:]
    /// In the order of the calls.
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

    /// - Returns: The argument for `sync` that stands for the writes so far.
    func mark() -> Int { nextNumber }

    /// Makes the writes before a mark durable.
    ///
    /// - Returns: The values that were durable instead.
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

    /// Loses unsynced writes.
    ///
    /// - Parameter keeps: Asked for each, in the order of the writes, whether it has reached the disk.
    mutating func crash(keeps: () -> Bool) {
        guard losesUnsyncedWrites else { return }
        for write in unsynced where keeps() { durable[write.key] = write.value }
        unsynced = []
        current = durable
    }
}
