extension SimulatedNetwork {
    /// The counts of the events on a network so far.
    ///
    /// `sent - answered - lost - failed` requests are under way, or their callers have been cancelled. (A duplicate that is lost between
    /// nodes counts as lost too.)
    public struct Counts: Sendable, Hashable {
        /// The number of requests that were sent.
        public internal(set) var sent = 0
        /// The number of requests that reached the server; duplicates count again.
        public internal(set) var delivered = 0
        /// The number of replies, or errors of the server, that have reached the caller.
        public internal(set) var answered = 0
        /// The number of requests and replies that were lost: by the decision of a seed, or by partitions, crashes and the end of the network.
        public internal(set) var lost = 0
        /// The number of callers that have received ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// The number of requests that reached the server for the second time.
        public internal(set) var duplicated = 0
    }
}
