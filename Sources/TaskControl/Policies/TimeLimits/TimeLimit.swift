@usableFromInline
enum _TimeLimit {
    @export(implementation)
    nonisolated(nonsending) static func run<Value>(
        _ duration: Duration,
        _ stopwatch: Stopwatch,
        _ register: _CancelRegistration?,
        _ operation: nonisolated(nonsending) @Sendable () async throws -> Value
    ) async throws -> Value {
        try check(duration)
        return try await withoutActuallyEscaping(operation) { operation in
            let race = Race(operation, limit: StopwatchLimit(duration, of: stopwatch))
            register?(race.phase.expire)
            let (isolation, name) = (#isolation, callersName)
            await withTaskGroup(of: Void.self) { group in
                group.addTask(name: name) { await race.run(isolation: isolation) }
                group.addTask {
                    do {
                        try await stopwatch.sleep(until: duration)
                        race.phase.expire()
                    } catch {
                        // The operation has ended, the caller was cancelled, or the clock can't sleep.
                        race.fail(error)
                    }
                }
                await group.next()
                // Only the limit is cancelled here. The operation is cancelled by the limit: see `_RacePhase`.
                if race.phase.hasEnded { group.cancelAll() }
            }
            return try race.outcome(of: duration)
        }
    }

    /// Throws if an operation with a time limit of `duration` must not begin: `CancellationError` if the caller is
    /// cancelled, ``TimeoutError`` if the limit is zero or negative.
    @usableFromInline
    static func check(_ duration: Duration) throws {
        try Task.checkCancellation()
        if duration <= .zero { throw TimeoutError(duration: duration) }
    }

    @usableFromInline static var callersName: String? { Diagnostics.currentTaskName }

    /// An operation and its limit, run by two child tasks: the first that ends determines the result.
    ///
    /// The class is Sendable because one child task writes the result and the other the error of the clock, and both
    /// are read only after the task group has awaited both tasks.
    @usableFromInline
    final class Race<Value>: @unchecked Sendable {
        @usableFromInline typealias Operation = nonisolated(nonsending) @Sendable () async throws -> Value

        @usableFromInline let operation: Operation
        @usableFromInline var result: Result<Value, any Error>?
        /// The error that the clock threw while the operation ran; `nil` if there is none.
        @usableFromInline var failure: (any Error)?
        @usableFromInline let phase: _RacePhase
        /// The time limit; `nil` if a signal takes its place.
        @usableFromInline let limit: StopwatchLimit?

        @export(implementation)
        init(_ operation: @escaping Operation, limit: StopwatchLimit) {
            self.operation = operation
            self.limit = limit
            phase = _RacePhase(limit: limit.duration)
        }

        /// Creates the run of an operation without a time limit, which other code can cancel: see
        /// `withCancellation(by:operation:)`.
        init(_ operation: @escaping Operation) {
            self.operation = operation
            limit = nil
            phase = _RacePhase()
        }

        @export(implementation)
        func run(isolation: isolated (any Actor)?) async {
            do {
                try phase.begin()
                result = .success(try await operation())
            } catch {
                result = .failure(error)
            }
            phase.end(isLate: limit?.hasPassed ?? false)
        }

        @export(implementation)
        func fail(_ error: any Error) {
            if phase.fail() { failure = error }
        }

        @export(implementation)
        func outcome(of duration: Duration) throws -> Value {
            do {
                let value = try decide(duration)
                phase.emitEnd(nil)
                return value
            } catch {
                phase.emitEnd(error)
                throw error
            }
        }

        @export(implementation)
        func decide(_ duration: Duration) throws -> Value {
            if case .success(let value) = result, !phase.isExpired, !(phase.isLate && _isTaskCancelled) { return value }
            // A cancelled caller receives CancellationError, regardless of the error of the operation.
            try Task.checkCancellation()
            if phase.isExpired { throw phase.error ?? TimeoutError(duration: duration) }
            // The clock has failed, so the operation was cancelled, and its error is only a consequence.
            if let failure { throw failure }
            guard let result else { preconditionFailure("The operation has ended.") }
            return try result.get()
        }
    }

    /// The phase of a race, in which the limit cancels the operation.
    ///
    /// The task of the limit cancels the task of the operation itself. If the caller cancelled it, a busy actor of the
    /// caller would delay the cancellation. And a cancellation of the task group would hold the status lock of the caller's
    /// task while the cancellation handlers of the operation run: if such a handler cancels another task, whose
    /// limit does the same at that moment, both would wait for each other forever.
    @usableFromInline
    struct _RacePhase: Sendable {
        private enum Phase { case running, ended, expired, failed }

        private struct State {
            var phase = Phase.running
            /// The cause with which other code has cancelled the operation; `nil` if it has not.
            var cause: CancellationCause?
            /// The task that runs the operation; `nil` before the operation begins and after it has ended.
            var task: Word?
            /// Whether the task of the operation no longer runs it.
            var hasEnded = false
            /// Whether the limit had passed when the operation ended.
            var isLate = false
        }

        private let state = Locked(State())
        private let caller = TaskAddress.running
        /// The events of the call of `withTimeout`; `nil` if no observer was registered when the call began, or if there
        /// is no time limit.
        private let events: CallEvents?

        @usableFromInline
        init(limit: Duration) {
            events = CallEvents.begin(.withTimeout, .started, .waiting, delay: limit)
        }

        /// Creates the phase of an operation that other code can cancel, and no time limit. The call then emits no
        /// events.
        init() { events = nil }

        /// Records that the current task begins the operation.
        ///
        /// - Throws: `CancellationError` if the operation must not begin: the caller was cancelled, or the limit has
        ///   passed.
        @usableFromInline
        func begin() throws {
            // Work of a cancelled caller does not begin.
            try Task.checkCancellation()
            guard let task = RunningTask.current else { preconditionFailure("The operation runs in a child task.") }
            CancellationCauses.link(.running, to: caller)
            let isInTime = state.withLock { state in
                state.task = task.word
                return state.phase == .running
            }
            if !isInTime { throw CancellationError() }
            events?.emit(.running, .entered(.running))
        }

        @usableFromInline
        func emitEnd(_ error: (any Error)?) {
            guard let events else { return }
            switch error {
            case nil: events.end(.completed, .completed)
            case is TimeoutError where isExpired: events.end(.timedOut, .timedOut)
            case let error?: events.end(.failed, .failed, error: error)
            }
        }

        /// Records that the operation has ended in the current task, and removes the recorded cause of its
        /// cancellation.
        ///
        /// - Parameter isLate: Whether the limit has passed, although its task may not have run yet.
        @usableFromInline
        func end(isLate: Bool) {
            state.withLock { state in
                if state.phase == .running { state.phase = isLate ? .expired : .ended }
                state.isLate = isLate
                state.task = nil
                state.hasEnded = true
            }
            CancellationCauses.forget(.running)
        }

        /// Cancels the operation, because the limit has passed.
        @usableFromInline func expire() { expire(.deadline) }

        /// Cancels the operation with a cause, because the limit has passed, or other code cancels it.
        @usableFromInline
        func expire(_ cause: CancellationCause) { _ = move(to: .expired, because: cause) }

        /// Cancels the operation, because the clock has failed.
        ///
        /// - Returns: Whether the operation was still running.
        @usableFromInline func fail() -> Bool { move(to: .failed, because: nil) }

        @usableFromInline var isExpired: Bool { state.withLock { $0.phase == .expired } }

        /// The error of a call whose operation other code has cancelled; `nil` if it has not.
        @usableFromInline var error: (any Error)? { state.withLock(\.cause) }

        /// Whether the limit had passed when the operation ended, also if the caller had been cancelled or the clock had
        /// failed before.
        @usableFromInline var isLate: Bool { state.withLock { $0.isLate } }

        /// Whether the operation has ended, or will not begin.
        @usableFromInline var hasEnded: Bool { state.withLock { $0.hasEnded } }

        /// Ends the phase `running`, and cancels the task of the operation.
        ///
        /// - Returns: Whether the operation was still running.
        private func move(to next: Phase, because cause: CancellationCause?) -> Bool {
            let (hasMoved, task) = state.withLock { state in
                // The call that has moved the phase may not have cancelled the task yet.
                guard state.phase == .running else { return (false, state.task?.task) }
                state.phase = next
                if cause != .deadline { state.cause = cause }
                // Retained under the lock, and its cause recorded: the task has not ended, because `end()` needs the
                // lock first.
                let task = state.task?.task
                if let task, let cause { CancellationCauses.record(.known(cause), for: task.address) }
                return (true, task)
            }
            task?.cancel()
            return hasMoved
        }
    }
}
