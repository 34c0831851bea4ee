/// Returns once the caller's task has been raised to a priority.
///
/// Sleeps and looks again, since there is nothing to wait at: the runtime lets no thread resume a task that is just being raised. A task that
/// yielded instead would use a processor as long as the others need to raise it.
public func untilRaised(to priority: TaskPriority) async {
    while Task.currentPriority < priority {
        do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
    }
}
