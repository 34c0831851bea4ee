internal import TaskControl

/// A recorder of the calls of an object, or of the requests of the clients of a distributed system, that checks whether
/// their replies are *linearizable*: whether some order of the calls explains all replies, in which each call takes effect
/// at one moment between its beginning and its end.
///
/// ```swift
/// enum Operation { case read, write(Int) }
///
/// let history = HistoryRecorder<Operation, Int?>()
/// async let write = history.record(.write(1)) { await register.write(1); return nil }
/// async let read = history.record(.read) { await register.read() }
/// _ = await (write, read)
/// try history.checkLinearizable(from: 0) { value, operation, reply in
///     switch operation {
///     case .write(let new):
///         value = new
///         return true
///     case .read: return reply == nil || reply == value
///     }
/// }
/// ```
///
/// Record the requests of a ``SimulatedNetwork`` in the same way: `history.record(.read) { try await process.send(Read(), to: "a") }`.
/// In a simulation, the search runs once per schedule: record few calls, such as 3 clients with 5 calls each.
public final class HistoryRecorder<Operation: Sendable, Reply: Sendable>: Sendable {
    private struct State {
        var calls: [HistoryCall<Operation, Reply>] = []
        /// The number of calls that have begun or ended, which gives each beginning and end a number.
        var eventCount = 0

        mutating func nextEvent() -> Int {
            defer { eventCount += 1 }
            return eventCount
        }
    }

    private let state = Locked(State())

    /// Creates an empty recorder.
    public init() {}

    /// Makes a call, and records when it begins, when it ends, and its reply.
    ///
    /// If the call throws, its effect is unknown: it can have taken effect at any moment after its beginning, also after it
    /// has thrown, or never. If an error is a reply, such as that an account has too little money, catch it in the closure and
    /// return it as a `Reply`.
    ///
    /// ## Cancellation
    /// The closure runs in the caller's task, and is cancelled with it. If it then throws, the effect of the call is unknown.
    ///
    /// - Parameters:
    ///   - operation: The operation of the call, with its arguments.
    ///   - call: Makes the call. Called once, in the isolation of the caller.
    /// - Returns: The value of the closure.
    /// - Throws: The error of the closure.
    public func record<Failure: Error>(
        _ operation: Operation,
        _ call: () async throws(Failure) -> Reply
    ) async throws(Failure) -> Reply {
        let index = state.withLock { state in
            state.calls.append(HistoryCall(operation: operation, begin: state.nextEvent()))
            return state.calls.count - 1
        }
        let reply = try await call()
        state.withLock { state in state.calls[index].end = (state.nextEvent(), reply) }
        return reply
    }

    /// The number of recorded calls, including those that have not ended.
    public var count: Int { state.withLock(\.calls.count) }

    /// Checks that the recorded calls are linearizable. Calls that have not ended count as calls whose effect is unknown.
    ///
    /// The search is that of Wing and Gong (*Testing and Verifying Concurrent Objects*, Journal of Parallel and Distributed
    /// Computing 17, 1993) in the form of Lowe (*Testing for Linearizability*, Concurrency and Computation 29, 2017), which
    /// visits each set of calls and state only once.
    ///
    /// - Parameters:
    ///   - initial: The state of the object before the first call.
    ///   - apply: The sequential model of the object: changes the state as the operation does, and returns whether the
    ///     operation can have this reply. The reply is `nil` if the effect of the call is unknown; every reply is then
    ///     possible.
    /// - Throws: ``HistoryRecorder/LinearizabilityError`` if no order of the calls explains the replies.
    /// - Complexity: Exponential in the number of calls that overlap each other, in the worst case.
    public func checkLinearizable<Model: Hashable>(
        from initial: Model,
        _ apply: (inout Model, Operation, Reply?) -> Bool
    ) throws(LinearizabilityError) {
        let calls = state.withLock(\.calls)
        var search = LinearizabilitySearch(calls, from: initial)
        if search.run(apply) { return }
        throw LinearizabilityError(
            callCount: calls.count,
            longest: search.longest.map { calls[$0].description },
            rest: calls.indices.filter { !search.longest.contains($0) }.map { calls[$0].description }
        )
    }
}

extension HistoryRecorder {
    /// The error of a history that is not linearizable: see ``HistoryRecorder``.
    public struct LinearizabilityError: Error, Hashable, CustomStringConvertible {
        private let callCount: Int
        private let longest: [String]
        private let rest: [String]

        init(callCount: Int, longest: [String], rest: [String]) {
            (self.callCount, self.longest, self.rest) = (callCount, longest, rest)
        }

        /// A text with the longest order of calls that explains their replies, and the calls that cannot follow.
        public var description: String {
            "the history is not linearizable: no order of its \(callCount) calls explains all replies\n"
                + "the longest order that explains its replies:\n" + Self.lines(longest)
                + "and of the other calls, none can follow that must have taken effect:\n" + Self.lines(rest)
        }

        private static func lines(_ texts: [String]) -> String {
            texts.isEmpty ? "  (none)\n" : texts.map { "  \($0)\n" }.joined()
        }
    }
}

/// A recorded call. Beginnings and ends of all calls of a history are numbered in one sequence.
struct HistoryCall<Operation: Sendable, Reply: Sendable>: Sendable, CustomStringConvertible {
    let operation: Operation
    let begin: Int
    /// The end of the call and its reply; `nil` if the effect of the call is unknown.
    var end: (event: Int, reply: Reply)?

    var description: String {
        guard let end else { return "\(operation) at \(begin)…: no reply" }
        return "\(operation) at \(begin)…\(end.event): \(end.reply)"
    }
}
