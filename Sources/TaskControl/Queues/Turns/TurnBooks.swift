/// The state of a queue: the machine under its lock, and the two words that tell without the lock whose turn it is.
///
/// Marks of turns refer to it and not to the queue: tasks that outlive their turn retain it.
final class TurnBooks: Sendable {
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    /// Who is in line lives: a task leaves before it ends.
    typealias Machine = TurnStateMachine<Waiter, _TaskHandle.Unowned>

    private let state: Locked<Machine>
    /// See ``TurnGate``.
    private let gate = AtomicWord(TurnGate.inLine)
    /// The machine's `lastTurn`. Written while holding the lock.
    private let lastTurn = AtomicWord(0)

    init(capacity: Int) {
        state = Locked(Machine(capacity: capacity))
    }

    deinit {
        gate.deallocate()
        lastTurn.deallocate()
    }

    @inline(__always)
    func withMachine<Answer>(_ event: (inout Machine) -> Answer) -> Answer {
        state.withLock { machine in
            if gate.value != TurnGate.inLine { machine.takeBack(gate.exchange(TurnGate.inLine)) }
            defer { lastTurn.store(Int64(bitPattern: machine.lastTurn)) }
            return event(&machine)
        }
    }

    // MARK: Without the lock

    /// Whether the turn of a task that has not left the line has come.
    @inline(__always)
    func hasTurn(_ id: Ticket) -> Bool { id.isUpTo(serial: UInt64(bitPattern: lastTurn.acquiredValue)) }

    /// Begins a turn in the caller's task, if the word is there for the taking.
    @inline(__always)
    func enterFree() -> Ticket? {
        var serial: UInt64 = 0
        let hasEntered = gate.replace { word in
            let entered = TurnGate.entered(word)
            if let entered { serial = TurnGate.serial(entered) }
            return entered
        }
        return hasEntered ? Ticket(serial: serial, slot: 0) : nil
    }

    /// Begins a turn in the caller's task, if the line is empty. From then on free turns need no lock.
    ///
    /// - Parameter machine: Accessed while holding the lock.
    func enterEmpty(_ machine: inout Machine) -> Ticket? {
        guard let id = machine.lend() else { return nil }
        gate.store(TurnGate.taken(machine.lastTurn))
        return id
    }

    /// Ends a turn that has no entry in the line.
    ///
    /// - Returns: Whether it had none. If it had one, the machine decides.
    @inline(__always)
    func leaveFree(_ id: Ticket) -> Bool { gate.replace { TurnGate.left($0, id) } }

    /// Whether a turn has begun and not ended.
    func isHeld(_ id: Ticket) -> Bool {
        // The word first: to look does not take it back.
        let word = gate.value
        return word == TurnGate.inLine ? withMachine { $0.isRunning(id) } : TurnGate.isTaken(word, by: id)
    }
}
