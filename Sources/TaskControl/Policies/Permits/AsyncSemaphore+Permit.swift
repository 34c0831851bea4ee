extension AsyncSemaphore {
    /// A value that holds permits of a semaphore. They are released exactly once: with ``release()``, or when the value
    /// is destroyed.
    ///
    /// The value cannot be copied, so its permits cannot be released twice or lost.
    ///
    /// ```swift
    /// let permit = try await connections.acquirePermit()
    /// let connection = Connection(permit: permit)       // the permit is released with the connection
    /// ```
    public struct Permit: ~Copyable, Sendable {
        private let semaphore: AsyncSemaphore
        /// The number of permits that this value holds and will release.
        public let count: Int
        private let holding: _PermitHolding

        fileprivate init(_ semaphore: AsyncSemaphore, count: Int, _ holding: _PermitHolding) {
            self.semaphore = semaphore
            self.count = count
            self.holding = holding
        }

        deinit { semaphore._release(count, holding) }

        /// Releases the permits now. May be called from any task.
        ///
        /// - Complexity: O(1), and O(*n*) in the number of callers that receive permits.
        public consuming func release() {}
    }

    /// Acquires permits, and returns them as a value: when the value is destroyed, the permits are released.
    ///
    /// Does not wait if the permits are available and no other caller waits; otherwise waits for the caller's turn.
    ///
    /// ## Cancellation
    /// A cancelled caller stops waiting immediately, and receives no permit. A caller that was cancelled before the
    /// call throws, even if permits are available.
    ///
    /// - Parameter count: The number of permits, from 1 to the `value` that the semaphore was created with:
    ///   another number counts as the nearest of these.
    /// - Throws: `CancellationError` if the caller is cancelled, and no other error.
    /// - Complexity: O(1).
    public nonisolated(nonsending) func acquirePermit(_ count: Int = 1) async throws(CancellationError) -> Permit {
        let count = _permitCount(count)
        var holding = _PermitHolding.value
        if !_acquireAtOnce(count, &holding) { try await _acquireInLine(count, holding) }
        return Permit(self, count: count, holding)
    }
}
