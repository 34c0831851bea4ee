private import CTaskControl

extension TaskEvent {
    /// The identity of an instance (such as a queue), a task or a call in events. Never reused within a process.
    public struct Identity: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The number of the instance that numbers its own tasks; 0 if `number` alone is unique in the process.
        private let owner: UInt64
        private let number: UInt64

        package init(_ number: UInt64, of owner: UInt64 = 0) {
            self.owner = owner
            self.number = number
        }

        /// The text form: `#7`, or `#7.12` for task 12 of the instance `#7`, if that instance numbers its tasks itself.
        public var description: String { owner == 0 ? "#\(number)" : "#\(owner).\(number)" }
    }

    /// The identity of the Swift task that an event happened in: unique among the tasks that exist at that time. A
    /// later task may have the same identity.
    ///
    /// - Note: Only with `@_spi(Observers) import TaskControl`.
    @_spi(Observers)
    public struct TaskIdentity: Hashable, Sendable {
        let address: UInt

        /// The identity of the current task; `nil` outside tasks.
        static var current: TaskIdentity? {
            tc_runningTask().map { TaskIdentity(address: UInt(bitPattern: $0)) }
        }
    }
}

extension TaskEvent.Identity {
    /// Encodes the identity as its `description`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Decodes an identity from its `description`.
    ///
    /// - Throws: `DecodingError` if the text is not the description of an identity.
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
                debugDescription: "\(text) is not an identity such as #7 or #7.12."
            )
        }
    }
}
