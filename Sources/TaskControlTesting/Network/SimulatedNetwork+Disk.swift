internal import TaskControl

extension SimulatedNetwork {
    /// The disk of a node: stores values under names. The values survive crashes of the node.
    ///
    /// ```swift
    /// process.disk.write(term, for: "term")
    /// try await process.disk.sync()          // the term is durable before the reply
    /// return term
    /// ```
    ///
    /// The `process` in this example is the ``SimulatedNetwork/Process`` that runs on the node.
    ///
    /// If the node was added with `losesUnsyncedWrites` (see ``SimulatedNetwork/addNode(_:losesUnsyncedWrites:_:)``), a
    /// crash can lose writes that were made since the last ``sync()``. The seed of the network decides for each of
    /// these writes whether it is lost: a later write can survive although an earlier one is lost, as on real disks.
    ///
    /// Store values, not references to objects: an object would share the memory of the process that has crashed.
    public struct Disk: Sendable {
        let network: NetworkStorage
        let node: Int
        /// The process through which the disk is used; `nil` if the test uses it directly.
        let incarnation: Incarnation?

        /// The names of the stored values, sorted.
        public var keys: [String] { network.with { $0.nodes[node].disk.keys } }

        /// Returns the value that was last written under a name.
        ///
        /// Traps if a value of another type was written.
        ///
        /// - Parameters:
        ///   - key: The name of the value.
        ///   - type: The type of the value.
        /// - Returns: The value; `nil` if there is no value with that name.
        public func read<Value: Sendable>(_ key: String, as type: Value.Type = Value.self) -> Value? {
            guard let stored = network.with({ $0.nodes[node].disk.read(key) }) else { return nil }
            guard let value = stored as? Value else {
                fatalError(
                    "The disk has a \(Swift.type(of: stored)) for “\(key)”, which was read as \(Value.self). Read it as the type that was written."
                )
            }
            return value
        }

        /// Stores a value under a name, and replaces an earlier value. Does nothing if the disk is that of a
        /// ``SimulatedNetwork/Process`` that has ended.
        ///
        /// - Parameters:
        ///   - value: The value to store.
        ///   - key: The name of the value.
        public func write(_ value: some Sendable, for key: String) {
            change(value, for: key)
        }

        /// Removes the value with the name `key`. Does nothing if there is no such value, or if the disk is that of a
        /// ``SimulatedNetwork/Process`` that has ended.
        public func remove(_ key: String) {
            change(nil, for: key)
        }

        private func change(_ value: (any Sendable)?, for key: String) {
            _ = network.with { state -> (any Sendable)? in
                guard incarnation.map(state.machine.isCurrent) ?? true else { return nil }
                defer { state.nodes[node].disk.write(value, for: key) }
                return state.nodes[node].disk.read(key)
            }
        }

        /// Makes all writes before this call durable, so that no later crash loses them. This function suspends, for the
        /// latency of the disk (see ``SimulatedNetwork/DiskFaults``): if the node crashes before the function has returned,
        /// the writes can be lost. Faults of ``SimulatedNetwork/injectFaults(_:count:within:lasting:on:)`` can happen just
        /// before the writes become durable, and just after that.
        ///
        /// ## Cancellation
        /// If the caller is cancelled, this function throws at once. Whether the writes are durable is then unknown.
        ///
        /// - Throws: `CancellationError` if the caller is cancelled, or if the disk is that of a
        ///   ``SimulatedNetwork/Process`` that has ended; ``SimulatedNetwork/DiskError`` if the seed of the network decides
        ///   that the disk fails.
        public func sync() async throws {
            try Task.checkCancellation()
            let (mark, latency, fails) = network.with { state in
                let faults = state.nodes[node].diskFaults
                let latency = faults.latency == .zero ... .zero ? nil : state.rest.duration(in: faults.latency)
                let fails = faults.failedSyncs > 0 && state.rest.unit() < faults.failedSyncs
                return (state.nodes[node].disk.mark(), latency, fails)
            }
            if let latency { try await network.timeline.pause(for: latency) } else { await Task.yield() }
            if let incarnation { network.strike(incarnation) }
            try await network.perform(as: incarnation, on: node) { _ in () }
            try Task.checkCancellation()
            let isFailure = fails && network.happens()
            let replaced = network.with { state -> [any Sendable]? in
                guard incarnation.map(state.machine.isCurrent) ?? true else { return nil }
                if isFailure { return state.nodes[node].disk.failSync(before: mark) }
                return state.nodes[node].disk.sync(before: mark)
            }
            if replaced == nil { throw CancellationError() }
            if isFailure {
                network.record(.syncFailed(network.name(of: node)))
                throw DiskError()
            }
            if let incarnation {
                network.strike(incarnation)
                try await network.hold(incarnation)
            }
        }
    }
}
