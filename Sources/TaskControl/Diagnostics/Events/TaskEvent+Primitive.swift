extension TaskEvent {
    /// The type or function of this library that an event comes from, such as ``FIFOQueue``, ``TaskStore`` or `retry`.
    ///
    /// Each primitive is declared beside its type or function. A later version may have more, so a `switch` over them needs a `default`.
    public struct Primitive: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
        /// The name as it is spelled in code, such as `FIFOQueue`.
        public let rawValue: String
        /// The properties of the tasks and calls that the events of this primitive are about. Empty if the primitive was created from a name.
        ///
        /// - Note: Only with `@_spi(Observers) import TaskControl`.
        @_spi(Observers) public let traits: Traits

        /// Creates a primitive from its name.
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

        /// The properties of the tasks and calls that the events of a primitive are about, for tools that interpret
        /// events. For example, the primitive `retry` has the trait ``call``, because its events are about calls of
        /// `retry`, and ``FIFOQueue`` has the trait ``line``, because its tasks wait for earlier ones. A primitive such
        /// as ``AsyncLifetime``, whose tasks have none of these properties, has no traits.
        ///
        /// - Note: Only with `@_spi(Observers) import TaskControl`.
        @_spi(Observers)
        public struct Traits: OptionSet, Sendable {
            /// The bits of the traits.
            public let rawValue: UInt8

            /// Creates traits from their bits.
            public init(rawValue: UInt8) { self.rawValue = rawValue }

            /// The trait of primitives whose events are about calls, such as those of `retry`, not about tasks. The
            /// work of a call runs in the task that makes the call, unless ``awaited`` is set too.
            public static let call = Traits(rawValue: 1)
            /// The trait of calls whose work runs in a separate task while the calling task waits for the end of the
            /// work, such as those of `withTimeout`.
            public static let awaited = Traits(rawValue: 2)
            /// The trait of owners whose tasks or calls may have to wait for the end of earlier ones of the same owner,
            /// and of the same key if they have keys: for example ``FIFOQueue`` and ``AsyncSemaphore``.
            public static let line = Traits(rawValue: 4)
            /// The trait of owners in which a task that is added later may run before a task that already waits, such
            /// as a ``TaskStore``.
            public static let overtaking = Traits(rawValue: 8)
            /// The trait of owners whose `drain()` waits only for the tasks that were added before it was called, such
            /// as a ``FIFOQueue``.
            public static let drainsEarlier = Traits(rawValue: 16)
            /// The trait of calls whose wait ends by itself after a certain time, such as those of `withTimeout`. No
            /// task can wait forever for such a call.
            public static let limited = Traits(rawValue: 32)
            /// The trait of calls whose result any task may hold and end, once the call runs, such as a permit that is
            /// a value. Only in the event that begins such a call.
            public static let movable = Traits(rawValue: 64)
        }
    }
}

extension TaskEvent.Primitive {
    /// Encodes the primitive as its name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Decodes a primitive from its name.
    public init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }
}
