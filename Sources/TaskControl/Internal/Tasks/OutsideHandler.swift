private import CTaskControl

#if canImport(Dispatch)
private import Dispatch
#else
/// A platform without Dispatch, such as WASI, has one thread, and no pool that could be busy: a task replaces a queue.
private struct DispatchQueue: Sendable {
    enum Quality { case userInteractive }

    init(label: String, qos: Quality) {}

    func async(execute work: @escaping @Sendable () -> Void) { Task.detached { work() } }
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
// of work that has no other caller. The other thread may not have begun by then, so the task repeats such a cancellation
// itself after it has resumed: cancelling twice has no effect.

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
/// Up to eight such actions run at the same time, so an action that blocks, for example because it calls a slow
/// cancellation handler, does not delay the others.
package func performOutsideHandler(_ action: @escaping @Sendable () -> Void) {
    HandlerActions.perform(action, on: .clientCode)
}

/// Sets whether the actions of handlers run in tasks instead of on other threads. For simulations, which have one
/// thread and decide the order of the tasks on it.
///
/// - Parameter isSimulated: `true` while a simulation runs; `false` restores the usual behavior.
package func performHandlerActionsInTasks(_ isSimulated: Bool) {
    tc_setSimulated(isSimulated)
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
private final class HandlerActions: Sendable {
    /// An action of this queue blocks nothing, so one worker is enough.
    static let wakeUps = HandlerActions("wakeUps", workers: 1)
    static let escalations = HandlerActions("escalations", workers: 4)
    static let clientCode = HandlerActions("clientCode", workers: 8)

    private struct Action: Linked {
        let perform: @Sendable () -> Void
        var links = Links()
    }

    private struct State {
        var actions = SlotTable<Action>()
        /// The waiting actions, in the order of the calls.
        var order = Chain()
        var idle: [DispatchQueue]
    }

    private let state: Locked<State>

    private init(_ name: String, workers: Int) {
        let idle = (1...workers).map { DispatchQueue(label: "TaskControl.\(name).\($0)", qos: .userInteractive) }
        state = Locked(State(idle: idle))
    }

    static func perform(_ action: @escaping @Sendable () -> Void, on queue: @autoclosure () -> HandlerActions) {
        if tc_isSimulated() {
            _ = spawnDetached(name: "TaskControl: acts for a handler", priority: .high, HandlerAction(action: action))
        } else {
            let call = ObserverCall.current
            queue().add { ObserverCall.perform(in: call, action) }
        }
    }

    private func add(_ action: @escaping @Sendable () -> Void) {
        let worker = state.withLock { state in
            let slot = state.actions.insert(Action(perform: action))
            state.order.append(slot, in: &state.actions)
            return state.idle.popLast()
        }
        worker?.async { [self] in work(worker) }
    }

    private func work(_ worker: DispatchQueue?) {
        while let action = next(worker) { action() }
    }

    /// Removes and returns the next action of the queue.
    ///
    /// - Parameter worker: The worker that will run the action.
    /// - Returns: The action; `nil` if the queue is empty: the worker is idle from then on.
    private func next(_ worker: DispatchQueue?) -> (@Sendable () -> Void)? {
        state.withLock { state in
            let slot = state.order.first
            guard slot != Chain.none else {
                if let worker { state.idle.append(worker) }
                return nil
            }
            state.order.remove(slot, in: &state.actions)
            return state.actions.remove(slot).perform
        }
    }
}
