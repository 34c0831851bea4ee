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
        /// ``ShutdownError/FailedStep/cancelledNames`` has their names. A step whose grace is zero or negative never fails.
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
        ///   - operation: Runs in the isolation of the code that calls this function, in a child task of the task that
        ///     performs the plan. The step has failed if the operation throws, and has succeeded if the operation
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
    private enum Event: Sendable {
        /// The operation has ended, with the given error if it has failed. `isLate`: its grace was over by then.
        case ended((any Error)?, isLate: Bool)
        case graceEnded
        case clockFailed(any Error)
    }

    /// Performs the step, whose grace `clock` measures, and waits for its end.
    ///
    /// - Returns: The failure; `nil` if the step has succeeded.
    func perform(_ clock: any Clock<Duration>) async -> ShutdownError.FailedStep? {
        switch action {
        case .owner(let owner, let grace, let waiting):
            let cutOff = await owner.shutdown(grace: grace, waiting: waiting, clock: clock)
            return grace > .zero ? failure(cutOff, grace) : nil
        case .supervisor(let supervisor, let grace, let waiting):
            let cutOff = Locked<[SupervisionEngine.CutOffChild]>([])
            let failed = await perform(
                {
                    let children = await supervisor.engine.shutdown(waiting: waiting)
                    cutOff.withLock { $0 = children }
                },
                grace,
                clock
            )
            let children = cutOff.withLock(\.self)
            return failed ?? failure(children.map(\.name), grace ?? children.first?.grace ?? .zero)
        case .operation(let grace, let operation):
            return await perform(operation, grace, clock)
        }
    }

    /// Returns the failure of a step that has cancelled tasks of an owner; `nil` if it has cancelled none.
    private func failure(_ cutOff: [String], _ grace: Duration) -> ShutdownError.FailedStep? {
        if cutOff.isEmpty { return nil }
        let isOver = !Task.isCancelled
        let error: any Error = isOver ? TimeoutError(duration: grace) : CancellationError()
        return .init(name: name, error: error, hasExceededGrace: isOver, cancelledNames: cutOff)
    }

    /// Runs the operation, even in a cancelled task, and cancels it at the end of its grace, which `clock` measures.
    /// If `grace` is `nil`, the operation is not cancelled. Returns the failure of the step; `nil` if the operation has
    /// succeeded.
    ///
    /// This does not use `withTimeout`, which does not run its operation if the caller is cancelled.
    private func perform(
        _ operation: @escaping @isolated(any) @Sendable () async throws -> Void,
        _ grace: Duration?,
        _ clock: any Clock<Duration>
    ) async -> ShutdownError.FailedStep? {
        let limit = grace.map { StopwatchLimit($0, of: Stopwatch(clock)) }
        return await withTaskGroup(of: Event.self) { group in
            group.addTask(name: name) {
                var failure: (any Error)?
                do { try await operation() } catch { failure = error }
                // The clock decides: the task of the grace may have had no thread.
                return .ended(failure, isLate: limit?.hasPassed ?? false)
            }
            if let grace {
                group.addTask {
                    do {
                        if grace > .zero { try await sleep(for: grace, on: clock) }
                        return .graceEnded
                    } catch {
                        return .clockFailed(error)
                    }
                }
            }
            var (hasExceededGrace, clockError) = (false, (any Error)?.none)
            while let event = await group.next() {
                switch event {
                case .ended(let error, let isLate):
                    // The grace period no longer matters.
                    group.cancelAll()
                    return error.map { failure($0, grace, hasExceededGrace || isLate, clockError) }
                case .graceEnded:
                    hasExceededGrace = true
                    group.cancelAll()
                case .clockFailed(let error):
                    // A clock that is cancelled with the caller has not failed. Without a clock the grace has no end, so it is over.
                    if !Task.isCancelled { clockError = error }
                    group.cancelAll()
                }
            }
            return nil
        }
    }

    private func failure(
        _ error: any Error,
        _ grace: Duration?,
        _ hasExceededGrace: Bool,
        _ clockError: (any Error)?
    ) -> ShutdownError.FailedStep {
        var error = error
        // A time limit is reported as a TimeoutError, never as a cancellation.
        if isInterruption(error) {
            if hasExceededGrace, let grace {
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
