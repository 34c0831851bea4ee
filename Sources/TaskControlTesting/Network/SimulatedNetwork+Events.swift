extension SimulatedNetwork {
    /// An event of a network: a fault, a lost message, the end of a fault, the start of a node, a change of a node's clock,
    /// or an error of a node's task. Print the events when a test fails. Inside a simulation, each event is also recorded as a note
    /// in the simulation's schedule.
    public struct Event: Sendable, Hashable, CustomStringConvertible {
        /// The kind of an event, with the names of the nodes concerned.
        @nonexhaustive
        public enum Kind: Sendable, Hashable, CustomStringConvertible {
            /// The node with the given name has started. The number `incarnation` is that of the start: 1 for the first
            /// start.
            case started(String, incarnation: Int)
            /// The node with the given name has crashed. The number `incarnation` is that of the start before the
            /// crash.
            case crashed(String, incarnation: Int)
            /// The node with the given name was paused.
            case paused(String)
            /// The pause of the node with the given name has ended.
            case resumed(String)
            /// The network was partitioned: the nodes were separated into groups, each given by the names of its nodes.
            case partitioned([[String]])
            /// Messages from the node named `from` to the node named `to` are lost from now on.
            case blocked(from: String, to: String)
            /// The latencies of messages from the node named `from` to the node named `to` are multiplied by a factor
            /// from now on.
            case slowed(from: String, to: String, factor: Double)
            /// Messages between all nodes arrive again, as fast as before: partitions, blocked links and slow links
            /// have ended.
            case healed
            /// The clock of the node with the given name runs at another rate from now on, in seconds of the node per
            /// second of the network's clock.
            case clockRateChanged(String, rate: Double)
            /// The clock of the node with the given name was moved forward, or back if the duration is negative.
            case clockJumped(String, by: Duration)
            /// A request or a reply was lost, because of a fault of the message, a partition, a blocked link, or a crash. The
            /// values are the name of the request's type, and the names of the nodes that send and receive the request:
            /// `nil` for a client that is not a node, or a server that is a closure.
            case lost(String, from: String?, to: String?)
            /// The disk of the node with the given name has failed to make writes durable.
            case syncFailed(String)
            /// A task has thrown an error. The values are the name of the task's node, and the description of the
            /// error.
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
                case .lost(let request, let from, let to):
                    "lost: \(request) from \(from ?? "a client") to \(to ?? "a server"), or its reply"
                case .syncFailed(let node): "disk of \(node): a sync fails"
                case .failed(let node, let error): "error: a task of \(node) has thrown \(error)"
                }
            }
        }

        /// The time since the network was created, on the network's clock.
        public let time: Duration
        /// The kind of the event, such as a fault or the start of a node.
        public let kind: Kind

        /// The time and the event, in one line.
        public var description: String { "\(time): \(kind)" }
    }
}
