private import CTaskControl

#if canImport(Dispatch)
private import Dispatch
#else
/// A platform without Dispatch, such as WASI, has one thread, and no pool that could be busy: a task replaces a queue.
private struct DispatchQueue: Sendable {
    enum Quality { case userInteractive }
    enum Moment { case soon }

    init(label: String, qos: Quality) {}

    func async(execute work: @escaping @Sendable () -> Void) { Task.detached { work() } }

    func asyncAfter(deadline: Moment, execute work: @escaping @Sendable () -> Void) { async(execute: work) }
}
#endif

// Cancellation and priority-escalation handlers. The runtime calls them while it holds the status lock of their task.
// Resuming, cancelling or escalating another task takes the lock of that task as well, and two handlers that do this to
// each other's tasks deadlock. So a handler resumes its own task only, and passes everything else to one of the three
// functions below, which perform it asynchronously, on a thread outside the thread pool of Swift concurrency: so it
// happens even if all threads of the pool are busy, for example with work that ends only when it is cancelled.
//
// There is a function per kind of action, because an action never waits behind one that runs more code of the client.
//
// When a cancelled call returns, all that the departure of its caller causes must have happened, such as the cancellation
// of work that has no other caller. The other thread may not have begun by then, so the task makes sure of it after it
// has resumed: see `cancelOutside(_:)`.

/// Resumes tasks that wait in this library, outside the cancellation handler that calls this function. The action must
/// call no code of the client.
package func wakeOutsideHandler(_ action: @escaping @Sendable () -> Void) {
    HandlerActions.perform(action, on: .wakeUps)
}

/// Escalates tasks, outside the priority-escalation handler that calls this function. The action may call escalation
/// handlers of the client.
package func escalateOutsideHandler(_ action: @escaping @Sendable () -> Void) {
    HandlerActions.perform(action, on: .escalations)
}

/// Performs an action that may call code of the client, such as the cancellation handlers of a task or an observer,
/// outside the cancellation or priority-escalation handler that calls this function.
///
/// Eight such actions run at the same time, and up to 512 while earlier ones block, for example because they call slow
/// cancellation handlers: so such an action does not delay the others.
package func performOutsideHandler(_ action: @escaping @Sendable () -> Void) {
    HandlerActions.perform(action, on: .clientCode)
}

/// Cancels a task, and returns as soon as the task is cancelled (`isCancelled` is true). Its cancellation handlers run on
/// another thread, and this function does not wait for their end.
///
/// Does not return early if the caller is cancelled.
package nonisolated(nonsending) func cancelOutside(_ task: _TaskHandle) async {
    if task.isCancelled { return }
    await withUnsafeContinuation { caller in
        performOutsideHandler {
            // `cancel()` marks the task as cancelled at once, but returns only after the handlers. So the caller is
            // resumed before.
            caller.resume()
            task.cancel()
        }
    }
    // The other thread marks the task as the next thing that it does: as for a lock, the wait is short.
    while !task.isCancelled { tc_yieldThread() }
}

/// Whether the current code was called by `insideHandler(_:)` on this thread. If so, events are delivered outside the
/// handler.
var isInsideHandler: Bool { tc_isInsideHandler() }

/// Calls code of the client from a cancellation or escalation handler. During the call, `isInsideHandler` is `true` on
/// this thread.
func insideHandler(_ body: () -> Void) {
    let outer = tc_isInsideHandler()
    tc_setInsideHandler(true)
    body()
    tc_setInsideHandler(outer)
}

private struct HandlerAction: _TaskBody {
    let action: @Sendable () -> Void

    nonisolated(nonsending) func run() async { action() }
}

/// A queue of actions, and the workers that run them in the order of the calls. Each worker is a serial dispatch queue,
/// which gets a thread even if the thread pool of Swift concurrency is busy.
///
/// If an action has waited for a few milliseconds, the workers are blocked, and the queue gets more of them until no
/// action waits.
private final class HandlerActions: Sendable {
    /// An action of this queue blocks nothing, so one worker is enough.
    static let wakeUps = HandlerActions("wakeUps", workers: 1...1)
    static let escalations = HandlerActions("escalations", workers: 4...4)
    static let clientCode = HandlerActions("clientCode", workers: 8...512)

    private struct Action: Linked {
        let perform: @Sendable () -> Void
        var links = Links()
    }

    private struct State {
        var actions = SlotTable<Action>()
        /// The waiting actions, in the order of the calls.
        var order = Chain()
        var idle: [DispatchQueue]
        var workerCount: Int
        /// The number of actions that were added, and the number of those that a worker has taken.
        var added = 0
        var taken = 0
        /// Whether `addWorkersIfBlocked(_:)` will be called.
        var isWatched = false
    }

    private let state: Locked<State>
    private let name: String
    /// The number of workers that are kept, and the number that there are while actions block.
    private let workers: ClosedRange<Int>

    private init(_ name: String, workers: ClosedRange<Int>) {
        self.name = name
        self.workers = workers
        let idle = (1...workers.lowerBound).map { Self.worker("\(name).\($0)") }
        state = Locked(State(idle: idle, workerCount: idle.count))
    }

    private static func worker(_ label: String) -> DispatchQueue {
        DispatchQueue(label: "TaskControl.\(label)", qos: .userInteractive)
    }

    @inline(never)
    static func perform(_ action: @escaping @Sendable () -> Void, on queue: @autoclosure () -> HandlerActions) {
        if ProcessValues.ofSimulation != nil {
            // A simulation has one thread, and decides the order of the tasks on it.
            _ = spawnDetached(name: "TaskControl: acts for a handler", priority: .high, HandlerAction(action: action))
        } else {
            let call = ObserverCall.current
            queue().add { ObserverCall.perform(in: call, action) }
        }
    }

    @inline(never)
    private func add(_ action: @escaping @Sendable () -> Void) {
        let (worker, toWatch) = state.withLock { state -> (DispatchQueue?, added: Int?) in
            let slot = state.actions.insert(Action(perform: action))
            state.order.append(slot, in: &state.actions)
            state.added += 1
            if let worker = state.idle.popLast() { return (worker, nil) }
            if state.isWatched || state.workerCount == workers.upperBound { return (nil, nil) }
            state.isWatched = true
            return (nil, state.added)
        }
        worker?.async { [self] in work(worker) }
        if let toWatch { watch(toWatch) }
    }

    private func watch(_ added: Int) {
        #if canImport(Dispatch)
        let soon = DispatchTime.now() + .milliseconds(5)
        #else
        let soon = DispatchQueue.Moment.soon
        #endif
        Self.watcher.asyncAfter(deadline: soon) { [self] in addWorkersIfBlocked(added) }
    }

    /// The queue on which `addWorkersIfBlocked(_:)` runs.
    private static let watcher = worker("watcher")

    /// Adds a worker for each action that already waited at an earlier moment and still waits. Watches the actions that
    /// have come since then in the same way.
    ///
    /// - Parameter added: The number of actions that had been added at that moment.
    private func addWorkersIfBlocked(_ added: Int) {
        let (new, toWatch) = state.withLock { state -> (Range<Int>, added: Int?) in
            let new = max(0, min(added - state.taken, workers.upperBound - state.workerCount))
            state.workerCount += new
            state.isWatched = state.added > max(added, state.taken) && state.workerCount < workers.upperBound
            return (state.workerCount - new..<state.workerCount, state.isWatched ? state.added : nil)
        }
        for number in new {
            let worker = Self.worker("\(name).\(number + 1)")
            worker.async { [self] in work(worker) }
        }
        if let toWatch { watch(toWatch) }
    }

    private func work(_ worker: DispatchQueue?) {
        while let action = next(worker) { action() }
    }

    /// Removes and returns the next action of the queue.
    ///
    /// - Parameter worker: The worker that will run the action.
    /// - Returns: The action; `nil` if the queue is empty: the worker is idle from then on, or is not needed any more.
    private func next(_ worker: DispatchQueue?) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let slot = state.order.first
            guard slot != Chain.none else {
                if state.workerCount > workers.lowerBound {
                    state.workerCount -= 1
                } else if let worker {
                    state.idle.append(worker)
                }
                return nil
            }
            state.order.remove(slot, in: &state.actions)
            state.taken += 1
            return state.actions.remove(slot).perform
        }
    }
}
