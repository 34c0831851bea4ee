internal import TaskControl

extension SimulatedNetwork {
    /// The probabilities of the faults of a request, from 0 (never) to 1 (always). Whether a fault happens is drawn
    /// separately for each request and each kind of fault.
    ///
    /// ```swift
    /// let faults = SimulatedNetwork.Faults(errors: 0.1, lostReplies: 0.05)
    /// ```
    ///
    /// If several faults are drawn for one request, a lost request takes precedence over a lost connection, and a lost connection over a
    /// lost reply. A request that does not reach the server is not duplicated.
    public struct Faults: Sendable, Hashable {
        /// The probability that the connection is lost, so that the caller receives ``ConnectionLostError``: in half of the cases before
        /// the server receives the request, in the other half after the server has handled it.
        public let errors: Double
        /// The probability that the server never receives the request.
        public let lostRequests: Double
        /// The probability that the server receives the request, and the caller never receives a reply.
        public let lostReplies: Double
        /// The probability that the server receives the request twice.
        public let duplicates: Double

        /// The faults of a reliable network: all probabilities are zero.
        public static let none = Faults()

        /// Creates a set of probabilities, each for the property with the same name. A fault whose probability is not
        /// given never happens. Traps if a probability is outside 0...1.
        public init(
            errors: Double = 0,
            lostRequests: Double = 0,
            lostReplies: Double = 0,
            duplicates: Double = 0
        ) {
            let named = [
                "errors": errors, "lostRequests": lostRequests, "lostReplies": lostReplies, "duplicates": duplicates,
            ]
            for (name, probability) in named {
                insist(
                    (0...1).contains(probability),
                    "SimulatedNetwork.Faults(\(name): \(probability)): a probability is from 0 (never) to 1 (always)."
                )
            }
            self.errors = errors
            self.lostRequests = lostRequests
            self.lostReplies = lostReplies
            self.duplicates = duplicates
        }
    }

    /// The error that a caller receives if the connection is lost. The error does not show whether the server has received the request.
    public struct ConnectionLostError: Error, Hashable, CustomStringConvertible {
        /// Creates the error, for a fake server that simulates lost connections.
        public init() {}

        /// A sentence that states that the connection was lost.
        public var description: String { "the simulated network lost the connection" }
    }
}
