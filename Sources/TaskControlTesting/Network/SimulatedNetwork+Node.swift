internal import TaskControl

extension SimulatedNetwork {
    /// A machine of a simulated network, with a name, a clock and a disk. The software that runs on it is a
    /// ``Process``.
    ///
    /// A test uses a node to make it fail: to crash it, pause it, or change its clock. All members can be used from any
    /// thread or task, including closures that are passed to ``Simulation/atAnyPoint(_:)``, and none of them suspends.
    public struct Node: Sendable {
        let network: NetworkStorage
        let index: Int

        /// The name of the node. Requests are sent to this name.
        public var name: String { network.name(of: index) }

        /// Whether the node has been started and has not crashed since. A paused node also counts as running.
        public var isRunning: Bool { network.with { $0.machine.isUp(index) } }

        /// Whether the node is paused.
        public var isPaused: Bool { network.with { $0.machine.isPaused(index) } }

        /// The number of times that the node has been started; zero before the first start.
        public var incarnation: Int { network.with { $0.machine.incarnation(of: index) } }

        /// The disk of the node. A test can use it whether or not the node runs.
        public var disk: Disk { Disk(network: network, node: index, incarnation: nil) }

        // MARK: Crashes

        /// Ends the process of the node, as `kill -9` or a power failure does. Does nothing if the node is not running.
        ///
        /// From now on, the node's ``Process`` has no effect: its tasks are cancelled and its handlers are removed. If
        /// the node was added with `losesUnsyncedWrites`, writes to its ``disk`` that were not synced can be lost.
        /// Messages that the node has sent before still arrive.
        public func crash() {
            network.crash(index)
        }

        /// Starts the node again: calls the closure that was passed to
        /// ``SimulatedNetwork/addNode(_:losesUnsyncedWrites:_:)`` with a new process. If the node is running, it
        /// crashes first.
        ///
        /// Does nothing unless ``SimulatedNetwork/run(_:)`` is running.
        public func restart() {
            network.crash(index)
            network.start(index)
        }

        // MARK: Pauses

        /// Pauses the node until ``resume()``, in the way of `SIGSTOP`, a long garbage collection or the migration of a
        /// virtual machine. Does nothing if the node is already paused or is not running.
        ///
        /// Requests and replies that arrive during the pause are delivered after ``resume()``. Sleeps and requests of
        /// the node's ``Process`` also continue only after ``resume()``. The node's clock continues during the pause.
        /// If the node crashes, the pause ends, and the messages that have arrived during the pause are lost.
        public func pause() {
            network.pause(index)
        }

        /// Ends the pause of the node. Does nothing if the node is not paused.
        public func resume() {
            network.resume(index)
        }

        // MARK: The clock

        /// The clock of the node, for use by the test. Crashes and pauses of the node do not affect sleeps on this
        /// clock: a crash does not make them throw, and a pause does not delay them.
        public var clock: NodeClock { NodeClock(network: network, node: index, incarnation: nil) }

        /// The rate of the node's clock, in seconds of the node per second of the network's clock. Traps if it is set to a rate that is not
        /// positive.
        ///
        /// Sleeps on the node's clock that are in progress continue at the new rate.
        public var clockRate: Double {
            get { network.with { $0.nodes[index].clock.rate } }
            nonmutating set {
                SimulatedNetwork.insistOnRates(newValue...newValue)
                network.changeClock(of: index) { $0.setRate(newValue, at: $1) }
                network.record(.clockRateChanged(name, rate: newValue))
            }
        }

        /// Moves the clock of the node forward, or back if the duration is negative, as a time server (NTP) or an
        /// administrator does.
        ///
        /// A sleep that is in progress on this clock ends when the clock shows the end of the sleep: sooner if the
        /// clock was moved forward, and later if it was moved back.
        public func jumpClock(by duration: Duration) {
            network.changeClock(of: index) { clock, _ in clock.jump(by: duration) }
            network.record(.clockJumped(name, by: duration))
        }
    }
}
