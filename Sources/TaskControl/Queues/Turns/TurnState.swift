/// The state of a queue: a ``TurnStateMachine`` with its lock, and the word of a ``TurnGate``.
///
/// ``_Places``, the task-local value of code inside a turn, refers to this state and not to the queue: tasks that
/// outlive their turn retain that value, and must not retain the queue.
final class TurnState: PlaceOwner {
    /// A reference to a task that does not retain the task. It is valid under the lock while the task is in the queue,
    /// since a task leaves the queue before it ends.
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
            // While the word is in the phase `line`, it is changed only here, under the lock.
            if !TurnGate(word: gate.value).isLine {
                machine.takeBack(TurnGate(word: gate.exchange(TurnGate.line(lastGiven: 0).word)))
            }
            defer { gate.store(machine.gate.word) }
            return event(&machine)
        }
    }

    /// Returns whether a task was given its turn before it asked for the turn. If not, the task must ask the machine.
    ///
    /// Called only by that task, before it ends the turn.
    @inline(__always)
    func hasGiven(_ id: Ticket) -> Bool { TurnGate(word: gate.acquiredValue).hasGiven(id) }

    /// Takes a turn for a caller without the lock, if the queue is idle.
    ///
    /// - Returns: The turn, which has begun; `nil` if the queue is not idle: the machine must then be asked.
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

    /// Ends a turn that `enterFree()` has begun, without the lock.
    ///
    /// - Returns: Whether the turn has ended. If not, the turn has an entry in the machine, which must end it.
    @inline(__always)
    func leaveFree(_ id: Ticket) -> Bool { gate.replace { TurnGate(word: $0).left(id)?.word } }

    /// Returns whether a turn has begun and not ended.
    func isHeld(_ id: Ticket) -> Bool {
        let gate = TurnGate(word: gate.value)
        return gate.isLine ? withMachine { $0.isRunning(id) } : gate.isTaken(by: id)
    }
}
