/// The turns of the keys of a ``KeyedFIFOQueue`` that are in use: a ``_TurnStorage`` per key.
@usableFromInline
final class _KeyedTurns: Sendable {
    let name: String?
    private let lines = Locked(LineTable<_TurnStorage>())

    /// The turns of a key, which are kept until `leave(_:)` is called.
    @usableFromInline
    struct Line: Sendable {
        fileprivate let slot: LineTable<_TurnStorage>.Slot
        @usableFromInline let turns: _TurnStorage
    }

    init(name: String?) {
        self.name = name
    }

    /// The number of keys that are in use.
    var keyCount: Int { lines.withLock { $0.count } }

    /// Returns the turns of a key for one call, which must then call `leave(_:)`.
    @usableFromInline
    func enter(_ key: _ErasedKey) -> Line {
        if let (slot, turns) = lines.withLock({ $0.enter(key) }) { return Line(slot: slot, turns: turns) }
        let key = key.described()
        // Created without the lock, since observers are notified of it. Released if another call was faster.
        let new = _TurnStorage(.keyedFIFOQueue, name: name(of: key), capacity: 1)
        let (slot, turns) = lines.withLock { $0.enter(key, adding: new) }
        return Line(slot: slot, turns: turns)
    }

    @usableFromInline
    func leave(_ line: Line) {
        let removed = lines.withLock { $0.leave(line.slot) }
        withExtendedLifetime(removed) {}
    }

    /// The name of the turns of a key: while an observer is registered, it contains the key.
    private func name(of key: _ErasedKey) -> String? {
        guard let text = Diagnostics.whileObserved(key.text) ?? nil else { return name }
        return name.map { "\($0): \(text)" } ?? text
    }
}
