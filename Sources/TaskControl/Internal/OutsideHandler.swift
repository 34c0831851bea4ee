private import CTaskControl
private import Dispatch

/// Performs an action outside the cancellation or priority-escalation handler that calls this function.
///
/// The runtime calls these handlers while it holds the status lock of their task. Resuming, cancelling or escalating another task takes the
/// lock of that task as well, and two handlers that do this to each other's tasks deadlock. So a handler resumes its own task only, and
/// performs everything else here: actions on other tasks, and calls of observers, which may do anything.
///
/// The action runs soon after this function has returned, on a thread that is not of the pool of tasks: when all of those are busy with work
/// that ends only when it is cancelled, that work is still cancelled. Actions run one at a time, in the order of the calls.
package func performOutsideHandler(_ action: @escaping @Sendable () -> Void) {
    if tc_isSimulated() {
        _ = spawnDetached(name: "TaskControl: acts for a handler", priority: .high, HandlerAction(action: action))
    } else {
        let echo = Diagnostics.echo
        handlerActions.async { Diagnostics.within(echo, action) }
    }
}

/// Makes handlers perform their actions in tasks, on this thread: a simulation has no other thread, and decides when they run.
package func performHandlerActionsInTasks(_ isSimulated: Bool) {
    tc_setSimulated(isSimulated)
}

private let handlerActions = DispatchQueue(label: "TaskControl.handlers", qos: .userInteractive)

private struct HandlerAction: TaskBody {
    let action: @Sendable () -> Void

    nonisolated(nonsending) func run() async { action() }
}
