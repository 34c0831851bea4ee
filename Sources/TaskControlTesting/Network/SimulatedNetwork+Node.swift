internal import TaskControl

extension SimulatedNetwork {
    /// A machine of a simulated network, with a name, a clock and a disk. The software that runs on it is a ``Process``.
    ///
    /// A test uses nodes to make them fail. All members may be used from any thread or task, also from ``Simulation/atAnyPoint(_:)``, and none
    /// suspends.
    public struct Node: Sendable {
        let network: NetworkStorage
        let index: Int

        /// The name of the node, to which requests are sent.
        public var name: String { network.name(of: index) }

        /// Whether the node has been started and has not crashed since.
        public var isRunning: Bool { network.with { $0.machine.isUp(index) } }

        /// Whether the node is paused.
        public var isPaused: Bool { network.with { $0.machine.isPaused(index) } }

        /// The number of times that the node has been started.
        public var incarnation: Int { network.with { $0.machine.incarnation(of: index) } }

        /// The disk of the node. A test can write to the disk whether or not the node runs.
        public var disk: Disk { Disk(network: network, node: index, incarnation: nil) }

        // MARK: Crashes

        /// Ends the process of the node, as `kill -9` or a loss of power does. Does nothing if the node is down.
        ///
        /// From now on its ``Process`` has no effect: its tasks are cancelled, its handlers are removed, and unsynced writes may be lost if the
        /// node was added with `losesUnsyncedWrites`. Messages that it has sent before still arrive.
        public func crash() {
            network.crash(index)
        }

        /// Starts the node again: calls its start-up closure with a new process. A running node crashes first.
        ///
        /// Does nothing unless ``SimulatedNetwork/run(_:)`` is running.
        public func restart() {
            network.crash(index)
            network.start(index)
        }

        // MARK: Pauses

        /// Stops the node for a while, in the way of a `SIGSTOP`, a long garbage collection or the migration of a virtual machine. Does nothing
        /// if the node is paused or down.
        ///
        /// Requests and replies that arrive are held until ``resume()``, and so are the sleeps and requests of its ``Process``. Its clock
        /// continues. A crash ends the pause, and held messages are lost.
        public func pause() {
            network.pause(index)
        }

        /// Ends the pause of the node. Does nothing if the node is not paused.
        public func resume() {
            network.resume(index)
        }

        // MARK: The clock

        /// The clock of the node. A crash does not end sleeps on this clock, and a pause does not hold them.
        public var clock: NodeClock { NodeClock(network: network, node: index, incarnation: nil) }

        /// The rate of the clock, in seconds of the node per second of the network's clock. Traps if it is set to a rate that is not
        /// positive.
        ///
        /// Sleeps in progress follow the new rate.
        public var clockRate: Double {
            get { network.with { $0.nodes[index].clock.rate } }
            nonmutating set {
                SimulatedNetwork.insistOnRates(newValue...newValue)
                network.changeClock(of: index) { $0.setRate(newValue, at: $1) }
                network.record(.clockRateChanged(name, rate: newValue))
            }
        }

        /// Sets the clock of the node forward, or back if the duration is negative, as NTP or an operator does.
        ///
        /// Sleeps in progress end when the clock shows their deadline: earlier, or later.
        public func jumpClock(by duration: Duration) {
            network.changeClock(of: index) { clock, _ in clock.jump(by: duration) }
            network.record(.clockJumped(name, by: duration))
        }
    }
}
