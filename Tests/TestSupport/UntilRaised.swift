/// Returns once the caller's task has been raised to a priority.
///
/// Yields, since there is nothing to wait at: the runtime lets no thread resume a task that is just being raised.
public func untilRaised(to priority: TaskPriority) async {
    while Task.currentPriority < priority { await Task.yield() }
}
