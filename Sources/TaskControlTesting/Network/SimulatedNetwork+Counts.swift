extension SimulatedNetwork {
    /// The numbers of requests and replies of a network so far, by their outcome.
    ///
    /// The server of a request is the node or the closure that handles it. A duplicate is a second delivery of the same
    /// request: the seed decides which requests are duplicated.
    ///
    /// `sent - answered - lost - failed` is the number of requests that are under way or whose callers were cancelled.
    /// (A duplicate that is lost on its way to a node also counts as lost.)
    public struct Counts: Sendable, Hashable {
        /// The number of requests that were sent.
        public internal(set) var sent = 0
        /// The number of requests that have reached their servers, including duplicates.
        public internal(set) var delivered = 0
        /// The number of replies, or errors of servers, that have reached the callers.
        public internal(set) var answered = 0
        /// The number of requests and replies that were lost: because the seed decided so, or because of a partition, a
        /// crash or the end of the network.
        public internal(set) var lost = 0
        /// The number of callers that have received ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// The number of duplicates of requests that have reached their servers.
        public internal(set) var duplicated = 0
    }
}
