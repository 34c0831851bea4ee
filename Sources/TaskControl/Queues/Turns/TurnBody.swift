/// The body of a task of a queue: waits for its turn, runs its operation, and ends the turn. The next task can then
/// begin.
///
/// If the task is cancelled before its turn, skippable work leaves the queue without running, and other work runs at
/// its turn.
@usableFromInline
struct _TurnBody<Work: _TurnWork>: _TaskBody {
    @usableFromInline let turn: _Turn
    @usableFromInline let work: Work

    @export(implementation)
    init(turn: _Turn, work: Work) {
        self.turn = turn
        self.work = work
    }

    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func run() async throws(Work.Failure) -> Work.Success {
        var mayRun = turn.begin()
        if !mayRun { mayRun = await waitAndBegin(isolation: #isolation) }
        // Skippable work of a task that is cancelled before the work begins does not begin. Checked again here, since
        // the cancellation may come together with the turn.
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

    @export(implementation)
    @inline(__always)
    nonisolated(nonsending) func runWork() async throws(Work.Failure) -> Work.Success {
        turn.enter()
        guard turn._turns._holdsTurns else { return try await work.run() }
        do {
            return try await turn._turns._places.withValue(turn.places) { try await work.run() }
        } catch let error as Work.Failure {
            throw error
        } catch {
            preconditionFailure("Work throws errors of its failure type only, and threw \(error).")
        }
    }

    /// Runs the work in an async frame of its own, which exists only after the wait.
    ///
    /// In one frame with the wait, the frames of a task that can be cancelled while it waits exceed the first block of
    /// memory of a task, and each waiting task allocates another kilobyte.
    @export(implementation)
    @inline(never)
    nonisolated(nonsending) func runWorkApart() async throws(Work.Failure) -> Work.Success { try await runWork() }

    /// Waits until the turn of the task has come, and begins it.
    ///
    /// The isolation is a parameter, so that a task that was resumed on another executor returns to its actor before
    /// its turn begins. Otherwise the compiler may leave that hop to the caller of this function, and other tasks could
    /// begin on the actor first.
    ///
    /// - Returns: Whether the turn has begun; `false` if the task was cancelled before and its work can be skipped.
    @export(implementation)
    @inline(__always)
    func waitAndBegin(isolation: isolated (any Actor)?) async -> Bool {
        // Written out here and inlined: the frames of a waiting task must fit into the memory that the runtime
        // allocates together with the task, and each function that it waits in adds a frame.
        if Work.isSkippable {
            await withTaskCancellationHandler { [turn] in
                await turn.waitUntilCalled()
            } onCancel: { [turn] in
                // May run before the task has parked: then the task does not park.
                turn.leave()
            }
        } else {
            await turn.waitUntilCalled()
        }
        return turn.begin()
    }
}

extension _TurnBody {
    /// Creates the task of a turn, for work that cannot throw.
    ///
    /// - Parameter level: The raw priority of the task; 0 for that of the caller.
    @export(implementation)
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

    /// Creates the task of a turn, for work that may throw.
    ///
    /// - Parameter level: The raw priority of the task; 0 for that of the caller.
    @export(implementation)
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
