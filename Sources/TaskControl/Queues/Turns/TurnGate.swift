/// The word with which an idle queue admits a caller of `run` without its lock. Pure.
///
///     inLine ──lent──▶ taken ◀──entered / left──▶ free
///        ▲               │                          │
///        └───taken back by whoever needs the line───┘
///
/// While the word is free or taken, the line is empty, and at most one caller has its turn. Anybody else takes the word back while holding the lock:
/// then the caller that has its turn is entered in the line, and ends its turn there.
enum TurnGate {
    /// The line decides.
    static let inLine: Int64 = 0

    /// Nobody has a turn. `serial` was the last that had one.
    static func free(after serial: UInt64) -> Int64 { Int64(bitPattern: serial << 1) }

    /// A caller has its turn.
    static func taken(_ serial: UInt64) -> Int64 { Int64(bitPattern: serial << 1 | 1) }

    /// The serial of the turn that is taken, or was taken last.
    static func serial(_ word: Int64) -> UInt64 { UInt64(bitPattern: word) >> 1 }

    static func isTaken(_ word: Int64) -> Bool { word & 1 == 1 }

    /// Whether a turn in the caller's task is the one that the word is taken for.
    static func isTaken(_ word: Int64, by id: Ticket) -> Bool { isTaken(word) && id.has(serial: serial(word)) }

    /// The word after a caller has entered; `nil` if it must go to the line.
    static func entered(_ word: Int64) -> Int64? {
        word == inLine || isTaken(word) ? nil : taken(serial(word) + 1)
    }

    /// The word after a caller has left; `nil` if its turn is in the line, and ends there.
    static func left(_ word: Int64, _ id: Ticket) -> Int64? {
        isTaken(word, by: id) ? free(after: serial(word)) : nil
    }
}
