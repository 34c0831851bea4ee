private import CTaskControl

extension TaskEvent {
    /// By what an event knows an instance, a task or a call: never used again in this process.
    public struct Identity: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The instance that counts; 0: the whole process.
        private let owner: UInt64
        private let number: UInt64

        package init(_ number: UInt64, of owner: UInt64 = 0) {
            self.owner = owner
            self.number = number
        }

        /// As in `#7`, or `#7.12` for what an instance has counted.
        public var description: String { owner == 0 ? "#\(number)" : "#\(owner).\(number)" }
    }

    /// By what an event knows the task that it happened in, whoever made that: unique among the tasks that live.
    public struct TaskIdentity: Hashable, Sendable {
        let address: UInt

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

extension TaskEvent.Identity {
    /// As its description.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Of its description.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        let numbers = text.dropFirst().split(separator: ".", omittingEmptySubsequences: false).map { UInt64($0) }
        switch (text.first, numbers.count, numbers.first ?? nil, numbers.last ?? nil) {
        case ("#", 1, let number?, _): self.init(number)
        case ("#", 2, let owner?, let number?): self.init(number, of: owner)
        default:
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "\(text) is no identity, as #7 or #7.12."
            )
        }
    }
}
