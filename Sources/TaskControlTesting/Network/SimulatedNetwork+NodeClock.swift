internal import TaskControl

extension SimulatedNetwork {
    /// The clock of a node, which can drift: it has a rate of its own, and jumps when the test calls ``Node/jumpClock(by:)``.
    ///
    /// The clock shows zero when the network is created, and continues through crashes and pauses. A clock with a rate
    /// of 2 is twice as fast as the network's clock: a sleep of 2 s on it takes 1 s of the network's time.
    public struct NodeClock: Clock {
        /// The type of the times that the clock shows: the time that has passed on it since the network was created. The
        /// times of different nodes must not be compared.
        public typealias Instant = TestClock.Instant

        let network: NetworkStorage
        let node: Int
        /// The process that has provided the clock; `nil` if the test uses it directly.
        let incarnation: Incarnation?

        /// The current time of the clock.
        public var now: Instant {
            let moment = network.timeline.now
            return Instant(offset: network.with { $0.nodes[node].clock.time(at: moment) })
        }

        /// The smallest difference between two times that the clock can measure: zero, since a sleep ends when the
        /// clock shows its deadline.
        public var minimumResolution: Duration { .zero }

        /// Waits until the clock shows a time or a later one. On the clock of a ``SimulatedNetwork/Process``, this
        /// function also waits while the node is paused. Returns at once if there is nothing to wait for.
        ///
        /// A sleep that is in progress follows jumps of the clock and changes of its rate.
        ///
        /// ## Cancellation
        /// If the caller is cancelled, or was cancelled before the call, this function throws at once.
        ///
        /// - Parameters:
        ///   - deadline: The time of this clock to wait for.
        ///   - tolerance: Not used.
        /// - Throws: `CancellationError` if the caller is cancelled, or if the clock is that of a
        ///   ``SimulatedNetwork/Process`` that has ended.
        public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
            try Task.checkCancellation()
            try await network.perform(as: incarnation, on: node) { gate in
                let now = network.timeline.now
                let end = network.with { $0.nodes[node].clock.moment(of: deadline.offset, after: now) }
                guard let end else { return () }
                try await withThrowingTaskGroup { group in
                    group.addTask(name: "timer") {
                        defer { gate.open() }
                        try await network.timeline.sleep(until: end)
                    }
                    try await gate.wait()
                    group.cancelAll()
                    // The timer was cancelled unless it has opened the gate itself.
                    do { try await group.next() } catch is CancellationError {}
                }
                return nil
            }
        }
    }
}
