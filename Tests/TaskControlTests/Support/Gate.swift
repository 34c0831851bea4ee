@testable import TaskControl

/// Something to wait for, that is opened once.
final class Gate: Sendable {
    fileprivate struct State {
        var isOpen = false
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var left: Set<Int> = []
        var next = 0
    }

    private let state = Locked(State())

    var isOpen: Bool { state.withLock(\.isOpen) }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values.map { $0 }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits like work that ignores its cancellation.
    func waitIgnoringCancellation() async {
        await park(state.withLock { $0.take() })
    }

    /// Waits like work that respects its cancellation: returns early.
    func wait() async {
        let number = state.withLock { $0.take() }
        await withTaskCancellationHandler {
            await park(number)
        } onCancel: {
            let waiter = state.withLock { state in
                state.left.insert(number)
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume()
        }
    }

    private func park(_ number: Int) async {
        await withCheckedContinuation { waiter in
            let isParked = state.withLock { state in
                if state.isOpen || state.left.contains(number) { return false }
                state.waiters[number] = waiter
                return true
            }
            if !isParked { waiter.resume() }
        }
    }
}

extension Gate.State {
    fileprivate mutating func take() -> Int {
        defer { next += 1 }
        return next
    }
}

/// Opens a gate when it is deinitialised: keep one in an object whose end a test waits for.
final class DeinitProbe: Sendable {
    private let gate: Gate

    init(_ gate: Gate) {
        self.gate = gate
    }

    deinit {
        gate.open()
    }
}

/// Values in the order in which they came, from any thread.
final class Log<Value: Sendable>: Sendable {
    private let state = Locked<[Value]>([])

    var values: [Value] { state.withLock { $0 } }

    func append(_ value: Value) {
        state.withLock { $0.append(value) }
    }
}
