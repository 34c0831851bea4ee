extension SimulatedNetwork {
    /// What has happened on a network so far.
    ///
    /// `sent - answered - lost - failed` requests are under way, or their callers have been cancelled.
    public struct Counts: Sendable, Hashable {
        /// Requests that were sent.
        public internal(set) var sent = 0
        /// Requests that reached the server; duplicates count again.
        public internal(set) var delivered = 0
        /// Callers that have heard from the server, be it a reply or an error.
        public internal(set) var answered = 0
        /// Requests and replies that were lost.
        public internal(set) var lost = 0
        /// Callers that have seen ``SimulatedNetwork/ConnectionLostError``.
        public internal(set) var failed = 0
        /// Requests that reached the server for the second time.
        public internal(set) var duplicated = 0
    }
}
