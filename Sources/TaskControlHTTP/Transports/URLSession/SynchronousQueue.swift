#if canImport(FoundationNetworking)
internal import Foundation

/// An operation queue that runs the delegate calls of a session at once, on the session's work queue, inside the call
/// of libcurl.
///
/// So delegate calls cannot accumulate, come after the end of their task, or run at the same time as the session's own
/// work. They must not block, or call the session with `sync`.
///
/// It is Sendable, like its superclass, since it adds no state.
final class SynchronousQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}
#endif
