/// The word of a queue that code reads and exchanges without the lock. Pure.
///
///     line ──the line is empty──▶ free ──a caller of `run` enters──▶ taken ──it leaves──▶ free
///       ▲                           │                                  │
///       └────────────────taken back by code that needs the line────────┘
///
/// While the word is free or taken, the line is empty, and at most one caller has a turn, which has no entry in the line. All other code takes the
/// word back while holding the lock: the turn of that caller gets its entry, and ends in the line.
struct TurnGate: Equatable {
    let word: Int64

    private enum Phase { static let (line, free, taken): (UInt64, UInt64, UInt64) = (0, 1, 2) }

    init(word: Int64) { self.word = word }

    private init(_ phase: UInt64, _ serial: UInt64) { word = Int64(bitPattern: serial << 2 | phase) }

    private var phase: UInt64 { UInt64(bitPattern: word) & 3 }

    /// Returns the word that leaves all decisions to the line.
    ///
    /// - Parameter serial: The serial of the entry that was the last to be given its turn before its task asked; 0: none.
    static func line(lastGiven serial: UInt64) -> Self { Self(Phase.line, serial) }

    /// Returns the word of an idle queue, in which no caller has a turn.
    ///
    /// - Parameter serial: The serial of the last turn.
    static func free(after serial: UInt64) -> Self { Self(Phase.free, serial) }

    var serial: UInt64 { UInt64(bitPattern: word) >> 2 }

    var isLine: Bool { phase == Phase.line }

    var isTaken: Bool { phase == Phase.taken }

    /// The turn of the caller that has taken the word.
    var turn: Ticket { Ticket(serial: serial, slot: 0) }

    /// Returns whether an entry was given its turn before its task asked. If not, the line decides.
    func hasGiven(_ id: Ticket) -> Bool { isLine && id.has(serial: serial) }

    func isTaken(by id: Ticket) -> Bool { isTaken && id.has(serial: serial) }

    /// The word after a caller has entered; `nil` if the line decides.
    var entered: Self? { phase == Phase.free ? Self(Phase.taken, serial + 1) : nil }

    /// Returns the word after a caller has left; `nil` if the line decides.
    func left(_ id: Ticket) -> Self? { isTaken(by: id) ? .free(after: serial) : nil }
}
