/// The state of a queue: the machine under its lock, and the word of its gate.
///
/// Marks of turns refer to it and not to the queue: tasks that outlive their turn retain it.
final class TurnState: Sendable {
    /// The handles of the tasks in line are valid: a task leaves before it ends.
    typealias Job = _TaskHandle.Unowned
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    typealias Machine = TurnStateMachine<Waiter, Job>

    private let state: Locked<Machine>
    private let gate: AtomicWord

    init(capacity: Int?) {
        let machine = Machine(capacity: capacity)
        gate = AtomicWord(machine.gate.word)
        state = Locked(machine)
    }

    deinit { gate.deallocate() }

    @inline(__always)
    func withMachine<Answer>(_ event: (inout Machine) -> Answer) -> Answer {
        state.withLock { machine in
            // A word that says that the line decides is only changed here.
            if !TurnGate(word: gate.value).isLine {
                machine.takeBack(TurnGate(word: gate.exchange(TurnGate.line(lastGiven: 0).word)))
            }
            defer { gate.store(machine.gate.word) }
            return event(&machine)
        }
    }

    /// Returns whether a task was given its turn before it asked. If not, the machine decides.
    ///
    /// Only for the task of the turn, before it ends the turn.
    @inline(__always)
    func hasGiven(_ id: Ticket) -> Bool { TurnGate(word: gate.acquiredValue).hasGiven(id) }

    /// Begins a turn in the caller's task, if the queue is idle.
    ///
    /// - Returns: `nil`: the machine decides.
    @inline(__always)
    func enterFree() -> Ticket? {
        var turn: Ticket?
        _ = gate.replace { word in
            let entered = TurnGate(word: word).entered
            turn = entered?.turn
            return entered?.word
        }
        return turn
    }

    /// Ends a turn that has no entry in the line.
    ///
    /// - Returns: Whether the turn had no entry. If not, the machine decides.
    @inline(__always)
    func leaveFree(_ id: Ticket) -> Bool { gate.replace { TurnGate(word: $0).left(id)?.word } }

    /// Returns whether a turn has begun and not ended.
    func isHeld(_ id: Ticket) -> Bool {
        let gate = TurnGate(word: gate.value)
        return gate.isLine ? withMachine { $0.isRunning(id) } : gate.isTaken(by: id)
    }
}
