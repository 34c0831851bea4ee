internal import TaskControl

extension CachedFlight {
    /// An asynchronous sequence of the stale value of a key, if there is one, and then a fresh value. Created with
    /// ``CachedFlight/values(for:)``.
    ///
    /// ## Cancellation
    /// An iteration that is cancelled while it waits for the fresh value throws `CancellationError`. If the iteration has
    /// already returned a stale value, the load continues in the background. Otherwise, the load is cancelled when its last
    /// caller stops waiting.
    public struct Values: AsyncSequence, Sendable {
        let cache: CachedFlight<Key, Value>
        let entry: _PinnedEntry

        /// Creates an iterator, which reads the cache with the first call of `next()`.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(cache: cache, entry: entry) }

        /// The iterator over the one or two values.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private enum Phase {
                case first, end
                /// The next element is the result of a load that is newer than the load or written value with this serial
                /// number.
                case second(after: UInt64)
            }

            let cache: CachedFlight<Key, Value>
            let entry: _PinnedEntry
            private var phase = Phase.first

            init(cache: CachedFlight<Key, Value>, entry: _PinnedEntry) { (self.cache, self.entry) = (cache, entry) }

            /// Returns the next value; `nil` after the last one.
            ///
            /// - Throws: The same errors as ``CachedFlight/value(for:)``. The call after a stale value throws the error of
            ///   the load that should replace the stale value, if that load fails.
            public mutating func next() async throws -> Value? {
                switch phase {
                case .end: return nil
                case .first:
                    let (result, after) = cache._storage.first(entry)
                    guard let result else {
                        phase = .end
                        return try CachedFlight<Key, Value>._value(
                            try await cache._storage.loadOrOld(entry, after ?? 0)
                        )
                    }
                    phase = after.map { .second(after: $0) } ?? .end
                    return try CachedFlight<Key, Value>._value(result)
                case .second(let after):
                    phase = .end
                    return try CachedFlight<Key, Value>._value(try await cache._storage.refreshed(entry, after))
                }
            }
        }
    }
}
