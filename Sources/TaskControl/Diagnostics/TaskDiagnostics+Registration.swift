extension TaskDiagnostics {
    /// The registration of an observer, which ends when ``end()`` is called or this object is deallocated.
    ///
    /// ```swift
    /// let observation = TaskDiagnostics.observe(recorder)
    /// // …
    /// observation.end()
    /// ```
    public final class Registration: Sendable {
        /// The number of the observer; `nil` if there is none.
        private let number: UInt64?
        private let onEnd: (@Sendable () -> Void)?

        init(number: UInt64?, onEnd: (@Sendable () -> Void)? = nil) {
            self.number = number
            self.onEnd = onEnd
        }

        deinit { end() }

        /// Ends the observation and releases the observer. A second call does nothing.
        ///
        /// Events that happen after this call has returned are not reported to the observer. An event that happens on
        /// another thread during this call may still be reported, a moment later. That thread then releases the observer,
        /// and if it has the last reference, the observer is deallocated there.
        public func end() {
            if let number { Observation.remove(number) }
            onEnd?()
        }
    }
}
