private import CTaskControl
private import Dispatch

/// Performs an action outside the cancellation or priority-escalation handler that calls this function.
///
/// The runtime calls these handlers while it holds the status lock of their task. Resuming, cancelling or escalating
/// another task takes the lock of that task as well, and two handlers that do this to each other's tasks deadlock. So a
/// handler resumes its own task only, and passes everything else to this function: actions on other tasks, and calls of
/// observers, which may do anything.
///
/// The action runs asynchronously, on a thread outside the thread pool of Swift concurrency. So work can be cancelled
/// even if all threads of the pool are busy with work that ends only when it is cancelled. Up to eight actions run at
/// the same time, so an action that blocks, for example because it calls a slow cancellation handler, does not delay
/// the others.
package func performOutsideHandler(_ action: @escaping @Sendable () -> Void) {
    if tc_isSimulated() {
        _ = spawnDetached(name: "TaskControl: acts for a handler", priority: .high, HandlerAction(action: action))
    } else {
        let call = ObserverCall.current
        HandlerActions.shared.perform { ObserverCall.perform(in: call, action) }
    }
}

/// Sets whether `performOutsideHandler(_:)` runs its actions in tasks instead of on other threads. For simulations,
/// which have one thread and decide the order of the tasks on it.
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

/// The queue of actions of `performOutsideHandler(_:)`, and the workers that run them in the order of the calls. Each worker is a serial dispatch
/// queue, which gets a thread even if the thread pool of Swift concurrency is busy.
private final class HandlerActions: Sendable {
    static let shared = HandlerActions()

    private struct Action: Linked {
        let perform: @Sendable () -> Void
        var links = Links()
    }

    private struct State {
        var actions = SlotTable<Action>()
        /// The waiting actions, in the order of the calls.
        var order = Chain()
        var idle = (1...8).map { DispatchQueue(label: "TaskControl.handlers.\($0)", qos: .userInteractive) }
    }

    private let state = Locked(State())

    func perform(_ action: @escaping @Sendable () -> Void) {
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
