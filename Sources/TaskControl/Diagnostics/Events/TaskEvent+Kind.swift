extension TaskEvent {
    /// What happened. An instance can be the one who acts or whom it happens to; then the event has no subject.
    ///
    /// A later version may have more: a `switch` over them needs a `default`.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable, CustomStringConvertible {
        // MARK: Instances
        /// It was made: an instance, or an ``AsyncTask``.
        case created
        /// It was let go of. What it has started may still run.
        case deallocated
        /// All that it had was cancelled.
        case cancelledAll
        /// It takes in nothing more.
        case closed
        /// Somebody waits until it is empty.
        case draining
        /// It was.
        case drained

        // MARK: Tasks and turns
        /// A task is about to be made.
        case added
        /// A task that was made elsewhere was taken in.
        case adopted
        /// One with the same key goes on in its place.
        case duplicate
        /// It came when the instance was closed.
        case refused
        /// An ``AsyncTask`` was given to a lifetime: the owner.
        case boundToLifetime
        /// An ``AsyncTask`` was put into a set.
        case stored
        /// An ``AsyncTask`` runs for itself.
        case detached
        /// An ``AsyncTask`` was let go of before anybody had chosen what it lives for, and cancelled.
        case dropped
        /// It has its place in the line.
        case enqueued
        /// It waits: for its turn, a quiet time, permits, a delay.
        case waiting
        /// Its work begins, or is about to.
        case started
        /// It is at work: a flight, or what has a time limit, in its own task; a `retry`, with another attempt.
        case running
        /// Its cancellation was asked for.
        case cancelled
        /// Its work has ended, without an error.
        case completed
        /// Its work has thrown.
        case failed
        /// It was cancelled before its work had begun, which now never will.
        case skipped

        // MARK: Sharing, retries, limits
        /// Somebody waits for a flight that is in the air.
        case joined
        /// Somebody who waited was cancelled, and waits no more.
        case left
        /// The next caller of the key begins anew.
        case forgotten
        /// An attempt that is not the first has succeeded.
        case succeeded
        /// There will be no other attempt.
        case gaveUp
        /// The time is over.
        case timedOut
        /// Permits were got.
        case acquired
        /// Permits were given back.
        case released
        /// Work that everybody has left has ended.
        case abandonedWorkEnded

        // MARK: HTTP
        /// The server rejected the credential.
        case rejected
        /// A new credential is being fetched.
        case refreshing
        /// It is there.
        case refreshed

        // MARK: Simulations

        /// A task of a simulation noted something. Never emitted to observers.
        case noted

        // MARK: Mistakes, most of them
        /// A task's work threw, and nobody handles it.
        case unhandledError
        /// A task that was cancelled threw something else than `CancellationError`.
        case errorAfterCancellation
        /// Work for an owner, of a lifetime or a store, threw; somebody may handle it.
        case workFailed
        /// A callback API let go of its callback.
        case continuationDropped
        /// A callback came once more.
        case resumedAgain
        /// A callback came after its caller was cancelled and had left: most often the answer to that.
        case resumedAfterCancellation
        /// A callback came although the call had thrown.
        case resumedAfterFailure

        /// As in the name of the event.
        public var description: String { rawValue }
    }
}
