/// The disk of a node: the values that the node has stored, and those of them that would survive a crash. A pure state machine.
struct DiskStateMachine {
    private struct Write {
        let number: Int
        let key: String
        /// The new value; `nil` if the write removes the key.
        let value: (any Sendable)?
    }

    /// The effect of a crash on a write that was not synced.
    enum Fate {
        case durable
        case lost
        /// The write was interrupted. The number is the part of the value, from 0 to 1, that was written.
        case torn(Double)
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
        var replaced: [any Sendable] = []
        for write in takeWrites(before: mark) {
            if let old = durable[write.key] { replaced.append(old) }
            durable[write.key] = write.value
        }
        return replaced
    }

    /// Notes that the writes before an earlier call of ``mark()`` could not be made durable, and will not be made durable
    /// by any later sync.
    ///
    /// - Parameter mark: The number that this call of ``mark()`` has returned.
    ///
    /// - Returns: The values of the writes, so that the caller can release them without holding a lock.
    mutating func failSync(before mark: Int) -> [any Sendable] {
        takeWrites(before: mark).compactMap(\.value)
    }

    private mutating func takeWrites(before mark: Int) -> [Write] {
        let count = unsynced.prefix { $0.number < mark }.count
        defer { unsynced.removeFirst(count) }
        return Array(unsynced.prefix(count))
    }

    /// Simulates a crash: makes each unsynced write durable, drops it or tears it, and resets the readable values to the
    /// durable ones.
    ///
    /// - Parameter fate: Called for each unsynced write, in the order of the writes. Returns the effect of the crash on the write.
    /// - Returns: The keys of the writes that are lost or torn, sorted.
    mutating func crash(_ fate: () -> Fate) -> [String] {
        guard losesUnsyncedWrites else { return [] }
        var lost: Set<String> = []
        for write in unsynced {
            switch fate() {
            case .durable: durable[write.key] = write.value
            case .lost: lost.insert(write.key)
            case .torn(let part):
                durable[write.key] = write.value.flatMap { Self.tear($0, part) }
                lost.insert(write.key)
            }
        }
        unsynced = []
        current = durable
        return lost.sorted()
    }

    private static func tear(_ value: any Sendable, _ part: Double) -> (any Sendable)? {
        switch value {
        case let bytes as [UInt8]: Array(bytes.prefix(Int(Double(bytes.count) * part)))
        case let text as String: String(text.prefix(Int(Double(text.count) * part)))
        default: nil
        }
    }
}
