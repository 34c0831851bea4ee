extension TaskEvent {
    /// The construct that an event comes from, such as a queue, a store or a call of `retry`.
    ///
    /// Each primitive is declared beside the construct itself. A later version may have more, so a `switch` over them needs a `default`.
    public struct Primitive: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The name as it is spelled in code, such as `FIFOQueue`.
        public let rawValue: String
        /// The relations of this primitive's subjects to tasks and to each other. Empty if the primitive was created from a name.
        public let traits: Traits

        /// Creates a primitive from its name, without traits.
        public init(rawValue: String) {
            self.init(rawValue, [])
        }

        package init(_ rawValue: String, _ traits: Traits) {
            self.rawValue = rawValue
            self.traits = traits
        }

        /// The name as it is spelled in code, such as `FIFOQueue`.
        public var description: String { rawValue }

        /// Returns whether two primitives have the same name.
        public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }

        /// Hashes the name of the primitive.
        public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

        /// The relations of a primitive's subjects to tasks and to each other. Without any trait, a subject is a task of its owner.
        public struct Traits: OptionSet, Sendable {
            /// The bits of the traits.
            public let rawValue: UInt8

            /// Creates traits from their bits.
            public init(rawValue: UInt8) { self.rawValue = rawValue }

            /// The subject happens in the task that begins it.
            public static let call = Traits(rawValue: 1)
            /// The subject runs in a task of its own, and the task that begins it waits for the end.
            public static let awaited = Traits(rawValue: 2)
            /// A waiting subject waits for the running subjects of its owner that have the same key.
            public static let line = Traits(rawValue: 4)
            /// A subject that begins later may run before a subject that already waits.
            public static let overtaking = Traits(rawValue: 8)
            /// A drain of the owner waits only for the subjects that began before it.
            public static let drainsEarlier = Traits(rawValue: 16)
            /// The subject ends by itself after a time, so nothing waits for it forever.
            public static let limited = Traits(rawValue: 32)
        }
    }
}

extension TaskEvent.Primitive {
    /// Encodes the primitive as its name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Decodes a primitive from its name, without traits.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }
}
