internal import TaskControl

extension SimulatedNetwork {
    /// The behavior of a node's disk: how long it takes, what it loses in a crash, and how often it fails. The seed of the
    /// network decides each time.
    ///
    /// ```swift
    /// let disk = SimulatedNetwork.DiskFaults(latency: .milliseconds(1)...(.milliseconds(9)), losesUnsyncedWrites: true)
    /// ```
    public struct DiskFaults: Sendable, Hashable {
        /// The range from which the time of each ``SimulatedNetwork/Disk/sync()`` is drawn, evenly distributed.
        public let latency: ClosedRange<Duration>
        /// Whether a crash can lose writes that were not synced. If `false`, every write is durable at once.
        public let losesUnsyncedWrites: Bool
        /// The probability, from 0 to 1, that a write which a crash interrupts is torn: of a `[UInt8]` or a `String`, only
        /// a part remains that the seed decides, and any other value is gone, as if its checksum were wrong. In both cases,
        /// the earlier value is overwritten. Only writes that were not synced are torn.
        public let tornWrites: Double
        /// The probability, from 0 to 1, that ``SimulatedNetwork/Disk/sync()`` throws ``SimulatedNetwork/DiskError``. The
        /// writes before it can still be read, but no later sync makes them durable, as on Linux: write the values again.
        public let failedSyncs: Double

        /// A disk that takes no time, loses nothing, and never fails.
        public static let none = DiskFaults()

        /// Creates the behavior of a disk, with a value for each property of the same name. Traps if a latency is negative,
        /// or a probability is outside 0...1.
        public init(
            latency: ClosedRange<Duration> = .zero ... .zero,
            losesUnsyncedWrites: Bool = false,
            tornWrites: Double = 0,
            failedSyncs: Double = 0
        ) {
            insist(
                latency.lowerBound >= .zero,
                "SimulatedNetwork.DiskFaults(latency: \(latency)): a latency must not be negative."
            )
            for probability in [tornWrites, failedSyncs] {
                insist(
                    (0...1).contains(probability),
                    "SimulatedNetwork.DiskFaults: a probability is from 0 (never) to 1 (always), not \(probability)."
                )
            }
            self.latency = latency
            self.losesUnsyncedWrites = losesUnsyncedWrites
            self.tornWrites = tornWrites
            self.failedSyncs = failedSyncs
        }
    }

    /// The error that ``SimulatedNetwork/Disk/sync()`` throws if the seed decides that it fails: see ``DiskFaults``.
    public struct DiskError: Error, Hashable, CustomStringConvertible {
        /// A sentence that states what happened to the writes.
        public var description: String {
            "the disk could not make the writes durable: they can be read until the next crash, and must be made again"
        }
    }
}
