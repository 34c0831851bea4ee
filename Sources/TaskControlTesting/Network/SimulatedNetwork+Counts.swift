extension SimulatedNetwork {
    /// The counts of the events on a network so far.
    ///
    /// `sent - answered - lost - failed` requests are under way, or their callers have been cancelled. (A duplicate that is lost between
    /// nodes counts as lost too.)
    public struct Counts: Sendable, Hashable {
        /// Requests that were sent.
        public internal(set) var sent = 0
        /// Requests that reached the server; duplicates count again.
        public internal(set) var delivered = 0
        /// Replies, or errors of the server, that have reached the caller.
        public internal(set) var answered = 0
        /// Requests and replies that were lost: as a seed decided, or to partitions, crashes and the end of the network.
        public internal(set) var lost = 0
        /// Callers that have seen ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// Requests that reached the server for the second time.
        public internal(set) var duplicated = 0
    }
}
