extension SimulatedNetwork {
    /// An event of a network: a fault, its end, or the start of a node. Print the events when a test fails. Inside a simulation, each event
    /// is also added to the steps of the schedule as a note.
    public struct Event: Sendable, Hashable, CustomStringConvertible {
        /// The kind of event.
        @nonexhaustive
        public enum Kind: Sendable, Hashable, CustomStringConvertible {
            /// A node has started.
            case started(String, incarnation: Int)
            /// A node has crashed.
            case crashed(String, incarnation: Int)
            /// A node was paused.
            case paused(String)
            /// A paused node continues.
            case resumed(String)
            /// The nodes were separated into these groups.
            case partitioned([[String]])
            /// Messages from one node to another are lost.
            case blocked(from: String, to: String)
            /// Messages from one node to another take longer, by a factor.
            case slowed(from: String, to: String, factor: Double)
            /// All links are open again, and as fast as before.
            case healed
            /// The clock of a node runs at another rate.
            case clockRateChanged(String, rate: Double)
            /// The clock of a node was set forward or back.
            case clockJumped(String, by: Duration)
            /// A task of a node has thrown an error.
            case failed(String, error: String)

            /// The kind of event in one line, such as `partition: {a} | {b, c}`.
            public var description: String {
                switch self {
                case .started(let node, let incarnation): "start: \(node) #\(incarnation)"
                case .crashed(let node, let incarnation): "crash: \(node) #\(incarnation)"
                case .paused(let node): "pause: \(node)"
                case .resumed(let node): "resume: \(node)"
                case .partitioned(let groups):
                    "partition: " + groups.map { "{\($0.joined(separator: ", "))}" }.joined(separator: " | ")
                case .blocked(let from, let to): "block: \(from) → \(to)"
                case .slowed(let from, let to, let factor): "slow: \(from) → \(to), × \(factor)"
                case .healed: "heal"
                case .clockRateChanged(let node, let rate): "clock of \(node): × \(rate)"
                case .clockJumped(let node, let duration): "clock of \(node): jumps by \(duration)"
                case .failed(let node, let error): "error: a task of \(node) has thrown \(error)"
                }
            }
        }

        /// The time since the network was created, on the network's clock.
        public let time: Duration
        /// The kind of event.
        public let kind: Kind

        /// The time and the event, in one line.
        public var description: String { "\(time): \(kind)" }
    }
}
