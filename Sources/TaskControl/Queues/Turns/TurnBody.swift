/// The task of a queue: waits for its turn, runs its operation, and passes the turn on.
///
/// If it is cancelled before its turn, skippable work gives its place up, and other work runs.
@usableFromInline
struct _TurnBody<Work: _TurnWork>: _TaskBody {
    @usableFromInline let turn: _Turn
    @usableFromInline let work: Work

    @inlinable
    init(turn: _Turn, work: Work) {
        self.turn = turn
        self.work = work
    }

    @inlinable
    @inline(__always)
    nonisolated(nonsending) func run() async throws(Work.Failure) -> Work.Success {
        var mayRun = turn.begin()
        if !mayRun { mayRun = await waitAndBegin(isolation: #isolation) }
        // A task that was cancelled before its work began does not begin it: here, when the cancellation came with the turn.
        if Work.isSkippable, !mayRun || turn.isCancelled {
            turn.finish(.skipped)
            return try Work.skipped()
        }
        do {
            let value = try await Work.isSkippable ? runWorkApart() : runWork()
            turn.finish(.completed)
            return value
        } catch {
            turn.finish(.failed(error))
            throw error
        }
    }

    @inlinable
    @inline(__always)
    nonisolated(nonsending) func runWork() async throws(Work.Failure) -> Work.Success {
        turn.enter()
        guard turn._turns._holdsTurns else { return try await work.run() }
        do {
            return try await turn._turns._markKey.withValue(turn.mark) { try await work.run() }
        } catch let error as Work.Failure {
            throw error
        } catch {
            preconditionFailure("Work throws errors of its failure type only, and threw \(error).")
        }
    }

    /// Runs the work in a frame of its own, which exists only after the wait: with both frames in one, a task with a cancellation handler does
    /// not fit into the memory that every task has, and takes another kilobyte while it waits.
    @inlinable
    @inline(never)
    nonisolated(nonsending) func runWorkApart() async throws(Work.Failure) -> Work.Success { try await runWork() }

    /// Waits for the turn, and begins it.
    ///
    /// Its isolation is spelled out, so that a task that was resumed elsewhere is back on its actor before it begins: on the way there
    /// others could begin before its first word. Without that the compiler may leave the way back to the caller.
    ///
    /// - Returns: Whether it has begun. If not, it was cancelled.
    @inlinable
    @inline(__always)
    func waitAndBegin(isolation: isolated (any Actor)?) async -> Bool {
        // Written out in here, and inlined: a task that waits must fit into the memory that every task has, and each call that it waits in
        // is a frame of that.
        if Work.isSkippable {
            await withTaskCancellationHandler { [turn] in
                await turn.waitUntilCalled()
            } onCancel: { [turn] in
                // May come before the waiter has parked: then it does not.
                turn.leave()
            }
        } else {
            await turn.waitUntilCalled()
        }
        return turn.begin()
    }
}

extension _TurnBody {
    /// Makes the task of a turn.
    ///
    /// - Parameter level: The raw priority of the task; 0 for that of the caller.
    @inlinable
    static func start(
        _ turn: _Turn,
        _ work: Work,
        isolatedTo isolation: (any Actor)?,
        name: String?,
        level: UInt8
    ) -> Task<Work.Success, Never> where Work.Failure == Never {
        let task = spawn(name: name, level: level, isolatedTo: isolation, _TurnBody(turn: turn, work: work))
        turn.attach(task.handle, name: name)
        return task
    }

    /// Starts the body of a turn for work that may fail.
    @inlinable
    static func start(
        _ turn: _Turn,
        _ work: Work,
        isolatedTo isolation: (any Actor)?,
        name: String?,
        level: UInt8
    ) -> Task<Work.Success, any Error> where Work.Failure == any Error {
        let task = spawn(name: name, level: level, isolatedTo: isolation, _TurnBody(turn: turn, work: work))
        turn.attach(task.handle, name: name)
        return task
    }
}
