/// The permits of a semaphore: a word while no caller waits for them, so that a free permit costs one exchange, and the state machine otherwise.
///
///     lent ──withMachine──▶ held ──no caller waits──▶ lent
///
/// While the permits are lent, the word counts the available ones. A caller that needs the machine takes the lock and takes them back. The word then
/// refuses every access until the lock is free and no caller waits.
struct PermitStorage: Sendable {
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    typealias Machine = PermitStateMachine<Waiter>

    private let state: Locked<Machine>
    private let size: Int
    private let lent: AtomicWord
    /// In place of a number of permits: the machine has them.
    private static var held: Int64 { -1 }

    init(size: Int) {
        state = Locked(Machine(size: size))
        self.size = size
        lent = AtomicWord(Int64(size))
    }

    func deallocate() { lent.deallocate() }

    /// - Returns: Whether the permits were available, and no caller waits. If not, the machine decides.
    @inline(__always)
    func take(_ count: Int) -> Bool {
        lent.replace { $0 >= count ? $0 - Int64(count) : nil }
    }

    /// - Returns: Whether no caller waits, and not more is returned than was taken. If not, the machine decides.
    @inline(__always)
    func putBack(_ count: Int) -> Bool {
        lent.replace { $0 != Self.held && count <= size - Int($0) ? $0 + Int64(count) : nil }
    }

    func withMachine<Answer>(_ event: (inout Machine) -> Answer) -> Answer {
        state.withLock { machine in
            let available = lent.exchange(Self.held)
            if available != Self.held { machine.takeBack(Int(available)) }
            defer { if machine.waiterCount == 0 { lent.store(Int64(machine.available)) } }
            return event(&machine)
        }
    }

    var available: Int {
        let available = lent.value
        return available == Self.held ? withMachine { $0.available } : Int(available)
    }
}
