import TaskControlTesting

@testable import TaskControl

/// An ``AsyncSemaphore`` and the sequential model of it: a list of waiting callers, of which the first is served when there are enough permits.
///
/// A simulation has one thread, and a call does not suspend before it waits, so the two never run apart.
final class PermitWorld: Sendable {
    private struct Request {
        let number: Int
        let weight: Int
    }

    private struct State {
        var available: Int
        var line: [Request] = []
        /// Have their permits, and may not know it yet.
        var holders: [Int: Int] = [:]
        var cancelled: Set<Int> = []
        var comers = 0

        mutating func grant() {
            while let first = line.first, first.weight <= available {
                line.removeFirst()
                available -= first.weight
                holders[first.number] = first.weight
            }
        }

        mutating func release(_ number: Int) {
            available += holders.removeValue(forKey: number) ?? 0
            grant()
        }
    }

    private let sim: Simulation
    private let size: Int
    private let semaphore: AsyncSemaphore
    private let state: Locked<State>

    init(_ sim: Simulation, size: Int) {
        (self.sim, self.size) = (sim, size)
        semaphore = AsyncSemaphore(value: size)
        state = Locked(State(available: size))
    }

    /// Works with permits in a task of its own, which the seed cancels at any point if the program says so.
    ///
    /// - Returns: Returns when it has ended.
    func work(_ weight: Int, inParts: Bool, isCancelled: Bool) -> @Sendable () async -> Void {
        let number = state.withLock { state in
            state.comers += 1
            return state.comers
        }
        let task = Task {
            state.withLock { state in
                if state.cancelled.contains(number) { return }
                state.line.append(Request(number: number, weight: weight))
                state.grant()
            }
            do {
                if inParts { try await acquireAndRelease(number, weight) } else { try await hold(number, weight) }
            } catch {
                // Granted and cancelled at once: it has been released.
                state.withLock { $0.release(number) }
                let isCancelled = state.withLock { $0.cancelled.contains(number) }
                sim.expect(error is CancellationError && isCancelled, "\(number) fails only with its cancellation")
            }
            check()
        }
        if isCancelled {
            sim.atAnyPoint {
                self.state.withLock { state in
                    state.cancelled.insert(number)
                    state.line.removeAll { $0.number == number }
                    state.grant()
                }
                task.cancel()
                self.check()
            }
        }
        return { await task.value }
    }

    private func hold(_ number: Int, _ weight: Int) async throws {
        try await semaphore.withPermits(weight) {
            expectHolds(number, weight)
            await Task.yield()
            state.withLock { $0.release(number) }
        }
    }

    private func acquireAndRelease(_ number: Int, _ weight: Int) async throws {
        try await semaphore.acquire(weight)
        expectHolds(number, weight)
        await Task.yield()
        for part in 1...weight {
            state.withLock { state in
                state.available += 1
                state.holders[number] = weight - part
                state.grant()
            }
            semaphore.release()
            check()
            await Task.yield()
        }
        state.withLock { _ = $0.holders.removeValue(forKey: number) }
    }

    func tryWork(_ weight: Int) async {
        let expected = state.withLock { state in
            guard state.line.isEmpty, weight <= state.available else { return false }
            state.available -= weight
            return true
        }
        let hasThem = semaphore.tryAcquire(weight)
        sim.expect(hasThem == expected, "it takes what is there, and overtakes nobody")
        check()
        guard hasThem else { return }
        await Task.yield()
        state.withLock { state in
            state.available += weight
            state.grant()
        }
        semaphore.release(weight)
        check()
    }

    private func expectHolds(_ number: Int, _ weight: Int) {
        sim.expect(state.withLock { $0.holders[number] } == weight, "\(number) has been granted its permits")
        check()
    }

    /// Compares the semaphore's counts with the model.
    private func check() {
        let (available, waiters) = (semaphore.available, semaphore.waiterCount)
        let expected = state.withLock { ($0.available, $0.line.count) }
        sim.expect((available, waiters) == expected, "\((available, waiters)), not \(expected)")
    }

    func expectAllIsOver() {
        sim.expect(semaphore.available == size && semaphore.waiterCount == 0, "everything is given back")
    }
}
