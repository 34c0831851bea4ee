/// A 64-bit word through which a caller takes and ends a turn of an idle queue without the lock of the queue. A pure
/// value: ``TurnState`` stores and exchanges the word.
///
///     line ──the line is empty──▶ free ──a caller of `run` enters──▶ taken ──it leaves──▶ free
///       ▲                           │                                  │
///       └────────────────taken back by code that needs the line────────┘
///
/// The *line* is the list of the tasks and callers in a ``TurnStateMachine``, which the lock protects. While the word
/// is free or taken, the line is empty, and at most one caller has a turn, which has no entry in the line. All other
/// code takes the word back while it holds the lock: the turn of that caller then gets an entry, and ends in the line.
struct TurnGate: Equatable {
    let word: Int64

    private enum Phase { static let (line, free, taken): (UInt64, UInt64, UInt64) = (0, 1, 2) }

    init(word: Int64) { self.word = word }

    private init(_ phase: UInt64, _ serial: UInt64) { word = Int64(bitPattern: serial << 2 | phase) }

    private var phase: UInt64 { UInt64(bitPattern: word) & 3 }

    /// Returns the word in the phase in which only the state machine, under the lock, decides about turns.
    ///
    /// - Parameter serial: The serial number of the task that was the last to be given its turn before it asked for the
    ///   turn; 0 if there is none.
    static func line(lastGiven serial: UInt64) -> Self { Self(Phase.line, serial) }

    /// Returns the word of an idle queue, in which no caller has a turn.
    ///
    /// - Parameter serial: The serial number of the last turn.
    static func free(after serial: UInt64) -> Self { Self(Phase.free, serial) }

    var serial: UInt64 { UInt64(bitPattern: word) >> 2 }

    var isLine: Bool { phase == Phase.line }

    var isTaken: Bool { phase == Phase.taken }

    /// The turn of the caller that has taken the word. Valid only while `isTaken` is true.
    var turn: Ticket { Ticket(serial: serial, slot: 0) }

    /// Returns whether the word records that a task was given its turn before it asked for the turn. If not, the state
    /// machine must be asked whether the turn has come.
    func hasGiven(_ id: Ticket) -> Bool { isLine && id.has(serial: serial) }

    func isTaken(by id: Ticket) -> Bool { isTaken && id.has(serial: serial) }

    /// The word after a caller has taken a turn without the lock; `nil` if the queue is not idle: the state machine
    /// must then be asked.
    var entered: Self? { phase == Phase.free ? Self(Phase.taken, serial + 1) : nil }

    /// Returns the word after a caller has ended its turn without the lock; `nil` if the turn has an entry in the state
    /// machine, which must end it.
    func left(_ id: Ticket) -> Self? { isTaken(by: id) ? .free(after: serial) : nil }
}
