import TaskControlFleet
import TaskControlTesting

/// Starts a task that holds the lease "job" until a gate is open.
func holdLease(
    in store: any StoreOperations,
    timeToLive: Duration,
    until release: Gate
) -> Task<Void, any Error> {
    Task { try await withLease("job", in: store, timeToLive: timeToLive) { _ in try await release.wait() } }
}
