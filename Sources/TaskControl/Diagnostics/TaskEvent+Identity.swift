private import CTaskControl

extension TaskEvent {
    /// By what an event knows an instance, a task or a call: never used again in this process.
    public struct Identity: Hashable, Sendable, CustomStringConvertible {
        /// The instance that counts; 0: the whole process.
        private let owner: UInt64
        private let number: UInt64

        package init(_ number: UInt64, of owner: UInt64 = 0) {
            self.owner = owner
            self.number = number
        }

        /// The number, if no instance has counted it.
        var processWide: UInt64? { owner == 0 ? number : nil }

        /// As in `#7`, or `#7.12` for what an instance has counted.
        public var description: String { owner == 0 ? "#\(number)" : "#\(owner).\(number)" }
    }

    /// By what an event knows the task that it happened in, whoever made that: unique among the tasks that live.
    public struct TaskIdentity: Hashable, Sendable {
        private let address: UInt

        /// The task that asks.
        static var current: TaskIdentity? {
            tc_runningTask().map { TaskIdentity(address: UInt(bitPattern: $0)) }
        }
    }

    /// A time that was noted when somebody listened, for an age at the end.
    @usableFromInline
    package struct Moment: Sendable {
        let time: Duration
    }
}
