/// The engine under every owner of tasks: locks, asks the state machine, unlocks, and only then acts (law 1).
///
/// The faces (`AsyncLifetime`, `TaskBag`, `IdentifiableTaskBag`, `TaskStore`) add words to it, not logic. A registry outlives its face for as
/// long as tasks of it run; the face's `deinit` shuts it.
final class TaskRegistry: Sendable {
    typealias Key = ErasedKey
    typealias Job = TaskHandle
    typealias Waiter = UnsafeContinuation<WaitOutcome, Never>
    typealias Machine = TaskRegistryStateMachine<Key, Job, Waiter>
    typealias ID = Machine.ID

    private let state = Locked(Machine())
    /// Called, without the lock, after what is live has changed, if anybody has ever asked.
    private let onChange: (@Sendable () -> Void)?

    /// Measures quiet times.
    private let clock: any Clock<Duration>

    /// Whose engine it is, and what events know it by.
    let face: TaskEvent.Primitive
    let name: String?
    let number = Diagnostics.nextNumber()

    init(
        _ face: TaskEvent.Primitive,
        name: String?,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: (@Sendable () -> Void)? = nil
    ) {
        self.face = face
        self.name = name
        self.clock = clock
        self.onChange = onChange
        if Diagnostics.isOn { tell(.created) }
    }

    // MARK: Registering

    enum Placement {
        /// Made for this call.
        case added(Job)
        /// One with the same key goes on in its place.
        case existing(Machine.Existing)
        /// The registry is closed.
        case refused

        var isAdded: Bool {
            if case .added = self { true } else { false }
        }
    }

    /// How a task is to be created.
    struct Making {
        var name: String?
        var priority: TaskPriority?
        /// Detached: with nothing of its creator.
        var isDetached = false
    }

    /// Puts a new task without a key into the books, then creates it (law 2).
    ///
    /// - Returns: `nil` if the registry is closed.
    func add(_ making: Making, _ operation: @escaping Operation) -> Job? {
        guard let id = reserve() else {
            if Diagnostics.isOn { tell(.refused, taskName: making.name) }
            return nil
        }
        if Diagnostics.isOn { tell(.added, .begins, id, taskName: making.name) }
        return start(id, mustBegin: false, making, operation)
    }

    /// A place for a task without a key that is about to be created by the caller, who brings its handle with `attach`, and calls `finish`.
    ///
    /// - Parameter number: What events know the task by, if not by its place here.
    /// - Returns: `nil` if the registry is closed.
    func reserve(number: UInt64? = nil) -> ID? {
        let (id, news) = change { $0.add(number: number) }
        carryOut(news)
        return id
    }

    /// Puts a new task into the books, then creates it (law 2).
    func add(
        key: Key,
        behavior: TaskStoreDuplicateKeyBehavior,
        _ making: Making,
        _ operation: @escaping Operation
    ) -> Placement {
        while true {
            let (action, news) = change { $0.add(key: key, behavior: behavior) }
            switch action {
            case .added(let id, let mustBegin, let effects):
                carryOut(cancelling: effects?.cancelling ?? [], waking: effects?.waking ?? [], news)
                if Diagnostics.isOn { tell(.added, .begins, id, key: key, taskName: making.name) }
                return .added(start(id, mustBegin: mustBegin, making, operation))
            case .existing(let existing):
                guard stands(existing) else { continue }
                if Diagnostics.isOn { tell(.duplicate, .goesOn, existing.id, key: key) }
                return .existing(existing)
            case .refused:
                if Diagnostics.isOn { tell(.refused, key: key, taskName: making.name) }
                return .refused
            }
        }
    }

    private func start(_ id: ID, mustBegin: Bool, _ making: Making, _ operation: @escaping Operation) -> Job {
        let isolation = making.isDetached ? nil : operation.isolation
        let body = RegisteredBody(registry: self, id: id, mustBegin: mustBegin, operation: operation)
        let job =
            making.isDetached
            ? spawnDetached(name: making.name, priority: making.priority, body)
            : spawn(name: making.name, priority: making.priority, isolatedTo: isolation, body)
        attach(id, job)
        return job
    }

    /// Brings the handle of a task that has been created.
    func attach(_ id: ID, _ job: Job) {
        let action = state.withLock { $0.attach(id, job: job) }
        if action.raisingTo > 0 { raise([job], to: TaskPriority(rawValue: action.raisingTo)) }
        for waiter in action.waking { waiter.resume(returning: .reached) }
        if action.isToBeCancelled { job.cancel() }
    }

    /// Puts a task into the books that has started already, and whose end its maker will report.
    ///
    /// - Parameters:
    ///   - number: What events know the task by, if somebody else tells of its life and listens.
    ///   - isTold: Whether the registry tells of its life.
    /// - Returns: `nil` if it was not taken in.
    func insert(_ job: Job, key: Key? = nil, number: UInt64? = nil, isTold: Bool = true) -> ID? {
        while true {
            let (action, news) = change { $0.insert(job, key: key, number: number) }
            switch action {
            case .inserted(let id):
                carryOut(news)
                if isTold, Diagnostics.isOn { tell(.adopted, .begins, id, key: key) }
                if job.isCancelled { cancel(id) }
                return id
            case .existing(let existing):
                guard stands(existing) else { continue }
                if Diagnostics.isOn { tell(.duplicate, .goesOn, existing.id, key: key) }
                return nil
            case .refused:
                if Diagnostics.isOn { tell(.refused, key: key) }
                return nil
            }
        }
    }

    /// A task that stands for another whose handle its creator has not brought yet, on another thread or further up on this one.
    func follow(_ followed: ID) -> Job {
        spawn(name: nil, priority: nil, isolatedTo: nil, FollowingBody(registry: self, followed: followed))
    }

    /// The handle of a task that may be in creation still; `nil` if it has ended.
    func job(of id: ID) async -> Job? {
        _ = await withUnsafeContinuation { (waiter: Waiter) in
            if !state.withLock({ $0.follow(id, waiter) }) { waiter.resume(returning: .reached) }
        }
        return state.withLock { $0.job(of: id) }
    }

    /// Puts somebody else's task into the books, and watches for its end.
    func adopt(_ job: Job, key: Key? = nil) -> Bool {
        guard let id = insert(job, key: key) else { return false }
        // Whoever waits for a task raises it to its own priority. Utility raises hardly any, and is still run soon on a busy system.
        let body = WatchingBody(registry: self, id: id, job: job)
        _ = spawnDetached(name: "TaskControl: waits for an adopted task", priority: .utility, body)
        return true
    }

    /// Whether a task that is in the way is still to be reckoned with: it may have been cancelled through its own handle (law 7).
    private func stands(_ existing: Machine.Existing) -> Bool {
        guard let job = existing.job, job.isCancelled else { return true }
        cancel(existing.id)
        return false
    }

    // MARK: Cancelling

    func cancel(key: Key) {
        let (jobs, news) = change { $0.cancel(key: key) }
        carryOut(cancelling: jobs, news)
    }

    func cancel(_ id: ID) {
        let (action, news) = change { $0.cancel(id) }
        carryOut(cancelling: action.0.map { [$0] } ?? [], waking: action.waking, news)
    }

    func cancelAll() {
        let (jobs, news) = change { $0.cancelAll() }
        if let retired = news.retired { tell(.cancelledAll, count: retired.count) }
        carryOut(cancelling: jobs, news)
    }

    /// Refuses whatever comes, and lets go on what is there.
    func refuse() {
        state.withLock { $0.close() }
        if Diagnostics.isOn { tell(.closed) }
    }

    /// Refuses whatever comes, and cancels what is there.
    func close() {
        if Diagnostics.isOn { tell(.closed) }
        shut()
    }

    /// The face goes.
    func release() {
        shut()
        if Diagnostics.isOn { tell(.deallocated) }
    }

    private func shut() {
        let (jobs, news) = change { machine in
            machine.close()
            return machine.cancelAll()
        }
        if let retired = news.retired, !retired.isEmpty { tell(.cancelledAll, count: retired.count) }
        carryOut(cancelling: jobs, news)
    }

    // MARK: Looking

    var liveCount: Int { look { $0.liveCount } }

    func isLive(_ key: Key) -> Bool { look { $0.isLive(key) } }

    var liveKeys: [Key] { look { $0.liveKeys } }

    private func look<Answer>(_ question: (Machine) -> Answer) -> Answer {
        state.withLock { machine in
            if onChange != nil { machine.isObserved = true }
            return question(machine)
        }
    }

    // MARK: Draining

    /// Returns when nothing is registered, which includes what was cancelled and still runs.
    ///
    /// A cancelled caller leaves at once with `CancellationError`. What is there is raised to the caller's priority (law 12).
    func drain() async throws {
        try Task.checkCancellation()
        guard let id = state.withLock({ $0.enrollDrainer() }) else { return }
        let wait = Diagnostics.isOn ? tellDraining() : nil
        let outcome = await withTaskCancellationHandler {
            await raising {
                await parkDrainer(id)
            } with: { [self] priority in
                raise(state.withLock { $0.raiseAll(to: priority.rawValue) }, to: priority)
            }
        } onCancel: {
            // May come before the waiter is parked: the machine remembers it.
            state.withLock { $0.drainerLeaves(id) }?.resume(returning: .left)
        }
        if let wait { tellDrained(wait, outcome == .left ? .left : .drained) }
        if outcome == .left { throw CancellationError() }
    }

    /// As `drain`, for a caller who stays even if it is cancelled.
    func drainToTheEnd() async {
        guard let id = state.withLock({ $0.enrollDrainer() }) else { return }
        let wait = Diagnostics.isOn ? tellDraining() : nil
        _ = await raising {
            await parkDrainer(id)
        } with: { [self] priority in
            raise(state.withLock { $0.raiseAll(to: priority.rawValue) }, to: priority)
        }
        if let wait { tellDrained(wait, .drained) }
    }

    private func parkDrainer(_ id: Machine.DrainID) async -> WaitOutcome {
        await withUnsafeContinuation { waiter in
            if let outcome = state.withLock({ $0.parkDrainer(id, waiter) }) { waiter.resume(returning: outcome) }
        }
    }

    // MARK: The life of a task

    /// Whether a body that has nothing to wait for may run. Its task's own flag does not tell all: a cancellation that came while the task was
    /// being created reaches that only when it exists.
    func mayStart(_ id: ID) -> Bool {
        !Task.isCancelled && state.withLock { $0.mayStart(id) }
    }

    /// Waits until the body may run: for its turn, or for its quiet time.
    ///
    /// - Returns: Whether it may; if not, it never will.
    func begin(_ id: ID) async -> Bool {
        while true {
            let isCancelled = Task.isCancelled
            let (action, news) = change { $0.begin(id, isCancelled: isCancelled) }
            switch action {
            case .run:
                return true
            case .wait:
                if Diagnostics.isOn { tell(.waiting, .goesOn, id, isInside: true) }
                await parkUntilTurn(id)
            case .quiet(let quietTime):
                if Diagnostics.isOn { tell(.waiting, .goesOn, id, delay: quietTime, isInside: true) }
                // If this throws, the task was cancelled, which is looked at next; or the clock fails, and there is no quiet to wait for.
                try? await clock.sleep(for: quietTime.saturated)
                return quietTimeEnded(id)
            case .skip(let waking):
                carryOut(waking: waking, news)
                return false
            }
        }
    }

    private func quietTimeEnded(_ id: ID) -> Bool {
        let isCancelled = Task.isCancelled
        let (action, news) = change { $0.quietTimeEnded(id, isCancelled: isCancelled) }
        switch action {
        case .run(let cancelling):
            carryOut(cancelling: cancelling, news)
            return true
        case .skip(let waking):
            carryOut(waking: waking, news)
            return false
        }
    }

    private func parkUntilTurn(_ id: ID) async {
        _ = await withTaskCancellationHandler {
            await raising {
                await withUnsafeContinuation { (waiter: Waiter) in
                    if !state.withLock({ $0.park(id, waiter) }) { waiter.resume(returning: .reached) }
                }
            } with: { [self] priority in
                raise(state.withLock { $0.raise(before: id, to: priority.rawValue) }, to: priority)
            }
        } onCancel: {
            let (waiter, news) = change { $0.leave(id) }
            waiter?.resume(returning: .reached)
            if news.isNews { performOutsideHandler { [self] in onChange?() } }
        }
    }

    /// The task has ended, whatever became of it. A second report, or a late one, is harmless (law 3).
    func finish(_ id: ID) {
        let (action, news) = change { $0.finish(id) }
        carryOut(waking: action.waking, news)
        // The entry goes here, and with it perhaps the last reference to the task and to its key.
    }

    // MARK: Deciding and acting

    /// Plays an event to the machine.
    ///
    /// - Returns: Its action, and what is to be told of it.
    @inline(__always)
    private func change<Action>(_ event: (inout Machine) -> Action) -> (Action, News) {
        let isTold = Diagnostics.isOn
        return state.withLock { machine in
            let before = machine.liveCount
            if isTold { machine.retired = [] }
            let action = event(&machine)
            let isNews = machine.isObserved && machine.liveCount != before
            return (action, News(isNews: isNews, retired: isTold ? machine.retired.take() : nil))
        }
    }

    private struct News {
        /// Whether what lives has changed, and somebody has asked for that before.
        let isNews: Bool
        /// Who has been cancelled, if somebody listens.
        let retired: [ID]?
    }

    /// Carries an action out, with the lock free. Observers come last: they may do anything.
    @inline(__always)
    private func carryOut(cancelling jobs: [Job] = [], waking waiters: [Waiter] = [], _ news: News) {
        if let retired = news.retired, !retired.isEmpty { tellCancelled(retired) }
        for waiter in waiters { waiter.resume(returning: .reached) }
        for job in jobs { job.cancel() }
        if news.isNews { onChange?() }
    }
}
