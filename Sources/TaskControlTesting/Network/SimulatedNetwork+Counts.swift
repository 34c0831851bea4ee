extension SimulatedNetwork {
    /// The numbers of requests and replies of a network so far, by their outcome.
    ///
    /// The server of a request is the node or the closure that handles it. A duplicate is a second delivery of the same
    /// request: the seed decides which requests are duplicated.
    ///
    /// Not counting duplicates, each sent request counts in at most one of ``answered``, ``lost`` and ``failed``. It
    /// counts in none of them while it is under way or being handled, or if its server is a closure and the caller was
    /// cancelled before the closure ended. A duplicate never counts in ``sent``, and never in ``answered``. A duplicate
    /// that is lost counts in ``lost``, in addition to its request.
    public struct Counts: Sendable, Hashable {
        /// The number of requests that were sent, including those that were lost or failed. Duplicates do not count.
        public internal(set) var sent = 0
        /// The number of requests that have reached their servers. Duplicates that have reached their servers also
        /// count.
        public internal(set) var delivered = 0
        /// The number of requests whose reply, or whose server's error, has arrived. Replies to duplicates do not
        /// count.
        public internal(set) var answered = 0
        /// The number of requests, replies and duplicates that were lost: because the seed decided so, or because of a
        /// partition, a blocked link, a crash, or the end of ``SimulatedNetwork/run(_:)``.
        public internal(set) var lost = 0
        /// The number of requests that ended with ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// The number of duplicates that have reached the server of their request.
        public internal(set) var duplicated = 0
    }
}
