public import TaskControl

extension ShutdownPlan {
    /// A step of a plan: the shutdown of an owner or a supervisor, or an operation.
    public struct Step: Sendable {
        private enum Action {
            case owner(any TaskOwner, grace: Duration, WaitingWorkBehavior)
            case supervisor(Supervisor, grace: Duration?, WaitingWorkBehavior)
            case operation(grace: Duration, @isolated(any) @Sendable () async throws -> Void)
        }

        /// The name of the step, which a ``ShutdownError/FailedStep`` shows: for a step that shuts down an owner or a supervisor, the
        /// name of the owner or the supervisor, or its type if it has no name.
        public let name: String
        private let action: Action

        /// Creates a step that shuts down an owner, such as a lifetime, a bag, a store or a cancellable queue.
        ///
        /// The step has failed if tasks were cancelled because the grace was over, or because the caller was cancelled:
        /// ``ShutdownError/FailedStep/cancelledNames`` has their names. Tasks that a grace of zero cancels at once are no
        /// failure, but those that are left behind are one.
        ///
        /// - Parameters:
        ///   - owner: The owner, which refuses tasks from the beginning of the step.
        ///   - grace: The time, counted from the beginning of the step, after which the tasks of the owner are
        ///     cancelled. If it is zero or negative, they are cancelled at once.
        ///   - waiting: The rule for tasks that have not begun, and for further attempts of `retry` and `poll` in tasks that run. By
        ///     default, both begin during the grace.
        public static func owner(
            _ owner: any TaskOwner,
            grace: Duration,
            waiting: WaitingWorkBehavior = .run
        ) -> Step {
            Step(name: owner.name ?? "\(type(of: owner))", action: .owner(owner, grace: grace, waiting))
        }

        /// Creates a step that shuts down a supervisor: the children of the supervisor stop in reverse order, each with
        /// its own grace period.
        ///
        /// The step has failed if children that have a grace period were cancelled because it was over, because `grace` was
        /// over, or because the caller was cancelled: ``ShutdownError/FailedStep/cancelledNames`` has their names.
        ///
        /// - Parameters:
        ///   - supervisor: The supervisor.
        ///   - grace: The time that all children can take together. After that time, the remaining children have no
        ///     grace period. `nil`, the default: only the grace periods of the children apply.
        ///   - waiting: The rule for further attempts of `retry` and `poll` in a child that is asked to stop. By default, they are
        ///     made.
        public static func supervisor(
            _ supervisor: Supervisor,
            grace: Duration? = nil,
            waiting: WaitingWorkBehavior = .run
        ) -> Step {
            Step(name: supervisor.name ?? "Supervisor", action: .supervisor(supervisor, grace: grace, waiting))
        }

        /// Creates a step that calls a function, such as one that writes what is left in a buffer.
        ///
        /// - Parameters:
        ///   - name: The name of the step and of its task.
        ///   - grace: The time, counted from the beginning of the step, after which the operation is cancelled. If it
        ///     is zero or negative, the operation is cancelled at once.
        ///   - operation: Runs in the isolation of the code that calls this function, in a task of its own with the
        ///     task-local values of the caller of the plan. The step has failed if the operation throws, and has succeeded if the operation
        ///     returns, even after it was cancelled.
        public static func operation(
            _ name: String,
            grace: Duration,
            @_inheritActorContext _ operation: @escaping @isolated(any) @Sendable () async throws -> Void
        ) -> Step {
            Step(name: name, action: .operation(grace: grace, operation))
        }
    }
}

extension ShutdownPlan.Step {
    /// Performs the step, whose times `clock` measures, and waits for its end.
    ///
    /// - Parameter cancellationGrace: The time after a cancellation for which the step waits; `nil` for any time.
    /// - Returns: The failure; `nil` if the step has succeeded.
    func perform(_ clock: any Clock<Duration>, cancellationGrace: Duration?) async -> ShutdownError.FailedStep? {
        switch action {
        case .owner(let owner, let grace, let waiting):
            let report = await owner.shutdown(
                grace: grace,
                waiting: waiting,
                cancellationGrace: cancellationGrace,
                clock: clock
            )
            return failure(grace > .zero ? report.cancelled : [], report.leftBehind, grace)
        case .supervisor(let supervisor, let grace, let waiting):
            let engine = supervisor.engine
            let (cutOff, left) =
                if let grace {
                    await engine.shutdown(
                        grace: grace,
                        waiting: waiting,
                        cancellationGrace: cancellationGrace,
                        clock: clock
                    )
                } else {
                    await engine.shutdown(waiting: waiting, cancellationGrace: cancellationGrace)
                }
            return failure(cutOff.map(\.name), left, grace ?? cutOff.first?.grace ?? .zero)
        case .operation(let grace, let operation):
            return await perform(operation, grace, CancellationLimit(cancellationGrace, on: clock), clock)
        }
    }

    /// Returns the failure of a step that has cancelled tasks, or has left tasks behind; `nil` if there are none.
    private func failure(
        _ cutOff: [String],
        _ leftBehind: [String],
        _ grace: Duration
    ) -> ShutdownError.FailedStep? {
        if cutOff.isEmpty, leftBehind.isEmpty { return nil }
        let isOver = !Task.isCancelled
        let error: any Error = isOver ? TimeoutError(duration: grace) : CancellationError()
        return .init(
            name: name,
            error: error,
            hasExceededGrace: isOver,
            cancelledNames: cutOff,
            leftBehind: leftBehind
        )
    }

    /// The end of an operation.
    private struct End: Sendable {
        /// The error of the operation; `nil` if it has returned.
        let error: (any Error)?
        /// Whether the grace of the operation was over by then.
        let isLate: Bool
    }

    /// Runs the operation, even in a cancelled task, cancels it at the end of its grace, and leaves it behind if it does not
    /// end within a limit after that.
    ///
    /// This does not use `withTimeout`, which does not run its operation if the caller is cancelled.
    private func perform(
        _ operation: @escaping @isolated(any) @Sendable () async throws -> Void,
        _ grace: Duration,
        _ limit: CancellationLimit?,
        _ clock: any Clock<Duration>
    ) async -> ShutdownError.FailedStep? {
        let graceLimit = StopwatchLimit(grace, of: Stopwatch(clock))
        let end = Locked<End?>(nil)
        let startsCancelled = Task.isCancelled
        // No child of this task, which would have to wait for it; and not created by the owner, whose tasks do not begin
        // if they were cancelled before.
        let work = Task(name: name) {
            if startsCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            var failure: (any Error)?
            do { try await operation() } catch { failure = error }
            // The clock decides: the task that measures the grace may have had no thread.
            end.withLock { [failure] in $0 = End(error: failure, isLate: graceLimit.hasPassed) }
        }
        let owner = AsyncLifetime()
        work.bind(to: owner)
        let (isOver, clockError) = await waitForGrace(of: owner, grace, clock)
        let isCancelled = isOver || Task.isCancelled
        if isCancelled { work.cancel() }
        let hasEnded = await waitForCancelledTasks(within: isCancelled ? limit : nil) {
            (stays: Bool) throws(CancellationError) in
            try await owner.drain(staysWhenCancelled: stays)
        }
        let hasExceededGrace = isOver && clockError == nil && !Task.isCancelled
        guard hasEnded, let end = end.withLock(\.self) else {
            return ShutdownError.FailedStep(
                name: name,
                error: clockError ?? TimeoutError(duration: grace),
                hasExceededGrace: hasExceededGrace,
                cancelledNames: [name],
                leftBehind: ["\"\(name)\" of ShutdownPlan"]
            )
        }
        return end.error.map { failure($0, grace, hasExceededGrace || end.isLate, clockError) }
    }

    /// Waits until the operation has ended, its grace is over, or the caller is cancelled.
    ///
    /// - Returns: Whether the grace is over; and the error of the clock if it could not measure the grace, which is then over.
    private func waitForGrace(
        of owner: AsyncLifetime,
        _ grace: Duration,
        _ clock: any Clock<Duration>
    ) async -> (isOver: Bool, clockError: (any Error)?) {
        await withTaskGroup(of: (isOver: Bool, clockError: (any Error)?).self) { group in
            group.addTask {
                try? await owner.drain()
                return (false, nil)
            }
            group.addTask {
                do {
                    if grace > .zero { try await sleep(for: grace, on: clock) }
                    return (true, nil)
                } catch {
                    // A clock that is cancelled with the caller has not failed.
                    return Task.isCancelled ? (false, nil) : (true, error)
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? (false, nil)
        }
    }

    private func failure(
        _ error: any Error,
        _ grace: Duration,
        _ hasExceededGrace: Bool,
        _ clockError: (any Error)?
    ) -> ShutdownError.FailedStep {
        var error = error
        // A time limit is reported as a TimeoutError, never as a cancellation.
        if isInterruption(error) {
            if hasExceededGrace {
                error = TimeoutError(duration: grace)
            } else if let clockError {
                error = clockError
            }
        }
        let isCancelled = hasExceededGrace || clockError != nil || Task.isCancelled
        return ShutdownError.FailedStep(
            name: name,
            error: error,
            hasExceededGrace: hasExceededGrace,
            cancelledNames: isCancelled ? [name] : []
        )
    }
}
