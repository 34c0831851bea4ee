extension TaskDiagnostics {
    /// The events of this process as an asynchronous sequence, for one loop: see ``TaskDiagnostics/events(bufferingNewest:)``.
    public struct Events: AsyncSequence, Sendable {
        private final class Buffer: TaskObserver {
            let dropped = Locked(0)
            private let continuation: AsyncStream<TaskEvent>.Continuation

            init(_ continuation: AsyncStream<TaskEvent>.Continuation) {
                self.continuation = continuation
            }

            func receive(_ event: TaskEvent) {
                if case .dropped = continuation.yield(event) { dropped.withLock { $0 += 1 } }
            }
        }

        private let stream: AsyncStream<TaskEvent>
        private let buffer: Buffer

        init(limit: Int) {
            let limit = ComputedNumber.count(
                limit,
                "TaskDiagnostics.events(bufferingNewest:)",
                TaskEvent.Primitive(rawValue: "TaskDiagnostics")
            )
            let (stream, continuation) = AsyncStream.makeStream(
                of: TaskEvent.self,
                bufferingPolicy: .bufferingNewest(limit)
            )
            (self.stream, buffer) = (stream, Buffer(continuation))
            let number = Observation.add(buffer)
            continuation.onTermination = { _ in Observation.remove(number) }
        }

        /// The number of events that were dropped so far because the loop did not receive them in time.
        public var droppedCount: Int { buffer.dropped.withLock { $0 } }

        /// Creates the iterator of a `for await` loop. If the task that runs the loop is cancelled, the loop ends, and no
        /// more events are collected.
        public func makeAsyncIterator() -> AsyncStream<TaskEvent>.Iterator { stream.makeAsyncIterator() }
    }
}
