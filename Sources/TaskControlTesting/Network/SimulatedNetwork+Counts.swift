extension SimulatedNetwork {
    /// The numbers of requests and replies of a network so far, by their outcome.
    ///
    /// `sent - answered - lost - failed` is the number of requests that are under way or whose callers were cancelled. (A duplicate that is
    /// lost between two nodes also counts as lost.)
    public struct Counts: Sendable, Hashable {
        /// The number of requests that were sent.
        public internal(set) var sent = 0
        /// The number of requests that have reached the server, including duplicates.
        public internal(set) var delivered = 0
        /// The number of replies, or errors of the server, that have reached the caller.
        public internal(set) var answered = 0
        /// The number of requests and replies that were lost: because the seed decided so, or because of a partition, a crash or the end of
        /// the network.
        public internal(set) var lost = 0
        /// The number of callers that have received ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// The number of duplicates that have reached the server.
        public internal(set) var duplicated = 0
    }
}
