import Synchronization

/// A flight with one caller, by hand and without a table of keys: the least that the promises of a flight take. The operation runs in a task of its own,
/// and its caller waits for a continuation, not for the task.
final class LoneFlight: Sendable {
    private enum State {
        case begun
        case waiting(UnsafeContinuation<Int?, Never>)
        /// The result; `nil` if the caller was cancelled.
        case ended(Int?)
    }

    private let state = Mutex(State.begun)

    /// The promises of a flight, each with those before it.
    enum Promises: Int, Comparable {
        /// The operation outlives its caller.
        case outliving
        /// The caller leaves when it is cancelled.
        case cancellable
        /// The priority of the caller reaches the operation.
        case escalating
        /// The operation is recognized from inside.
        case marked

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    static func run(_ promises: Promises) async -> Int? {
        let flight = LoneFlight()
        let task = Task { @concurrent in
            let value =
                promises < .marked ? await flight.fetch() : await current.withValue([1]) { await flight.fetch() }
            flight.end(value)
        }
        switch promises {
        case .outliving: return await flight.value()
        case .cancellable: return await flight.cancellableValue()
        case .escalating, .marked:
            return await withTaskPriorityEscalationHandler {
                await flight.cancellableValue()
            } onPriorityEscalated: { _, priority in
                task.escalatePriority(to: priority)
            }
        }
    }

    private static let current = TaskLocal(wrappedValue: [Int]())

    nonisolated private func fetch() async -> Int { 1 }

    nonisolated(nonsending) private func cancellableValue() async -> Int? {
        let isolation = #isolation
        return await withTaskCancellationHandler {
            _ = isolation
            return await value()
        } onCancel: {
            end(nil)
        }
    }

    nonisolated(nonsending) private func value() async -> Int? {
        await withUnsafeContinuation { continuation in
            let result: Int?? = state.withLock { state in
                if case .ended(let result) = state { return result }
                state = .waiting(continuation)
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }

    private func end(_ result: Int?) {
        let waiter: UnsafeContinuation<Int?, Never>? = state.withLock { state in
            defer { if case .ended = state {} else { state = .ended(result) } }
            guard case .waiting(let waiter) = state else { return nil }
            return waiter
        }
        waiter?.resume(returning: result)
    }
}
