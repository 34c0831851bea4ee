// The engine of permits, from the outside in:
//
//     AsyncSemaphore                          the face: `withPermit`, and permits that are acquired and released
//     PermitStorage                           an atomic count while no caller waits, and otherwise the lock
//       PermitStateMachine                    the callers that wait, in the order of their calls

/// The permits of a semaphore: an atomic integer while no caller waits, so that an available permit costs one atomic
/// exchange, and otherwise a ``PermitStateMachine`` under a lock.
///
///     lent ──withMachine──▶ held ──no caller waits──▶ lent
///
/// In the state *lent*, the integer is the number of available permits, which are taken and released without the lock.
/// Code that needs the machine takes the lock, and moves this number to the machine. The integer then has the value
/// `held`, and every access without the lock is refused, until the lock is released and no caller waits.
struct PermitStorage: Sendable {
    typealias Machine = PermitStateMachine

    private let state: Locked<Machine>
    let size: Int
    private let lent: AtomicWord
    /// The value of `lent` while the ``PermitStateMachine`` counts the available permits instead.
    private static var held: Int64 { -1 }

    init(size: Int) {
        state = Locked(Machine(size: size))
        self.size = size
        lent = AtomicWord(Int64(size))
    }

    func deallocate() { lent.deallocate() }

    /// Takes `count` permits without the lock.
    ///
    /// - Returns: Whether the permits are taken. `false` if too few are available or a caller waits: then
    ///   `withMachine(_:)` must be used instead.
    @inline(__always)
    func take(_ count: Int) -> Bool {
        lent.replace { $0 >= count ? $0 - Int64(count) : nil }
    }

    /// Releases `count` permits without the lock.
    ///
    /// - Returns: Whether the permits are released. `false` if a caller waits, or if more permits are released than
    ///   were taken: then `withMachine(_:)` must be used instead.
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
