/// Returns once the caller's task has been raised to a priority, also if it is cancelled.
///
/// Sleeps and looks again, since there is nothing to wait at: the runtime lets no thread resume a task that is just being raised. A task that
/// yielded instead would use a processor as long as the others need to raise it. The sleep is in a task of its own, which is not cancelled: in a
/// cancelled task, each look would throw an error, of which Swift Testing records the stack.
public func untilRaised(to priority: TaskPriority) async {
    while Task.currentPriority < priority {
        await Task { try? await Task.sleep(for: .milliseconds(1)) }.value
    }
}
