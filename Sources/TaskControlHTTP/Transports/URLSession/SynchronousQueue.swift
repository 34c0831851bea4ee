#if canImport(FoundationNetworking)
/// Runs the callbacks of the session at once, on the session's work queue, within libcurl's call.
///
/// So callbacks cannot pile up, come after the end, or run beside the session's own work. In return, none of them may
/// wait, or call the session with `sync`.
///
/// Sendable, as its superclass: it adds no state.
final class SynchronousQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#endif
