internal import TaskControl

/// The current state of an object, such as supervised work, and the streams that report each new state. All streams
/// receive the states in the order in which they were published.
package final class StatePublication<State: Sendable>: Sendable {
    private struct Books {
        var state: State
        /// The state that the streams received last.
        var delivered: State
        /// The published states that the streams have not received yet, the oldest first. One thread delivers them,
        /// including those that other threads publish meanwhile.
        var pending: [State] = []
        var isDelivering = false
        var isFinal = false
        var streams: [UInt64: AsyncStream<State>.Continuation] = [:]
        var nextID: UInt64 = 0
    }

    private let books: Locked<Books>

    package init(_ state: State) {
        books = Locked(Books(state: state, delivered: state))
    }

    package var state: State { books.withLock(\.state) }

    var isObserved: Bool { books.withLock { !$0.streams.isEmpty } }

    /// Returns a stream of the current state and each later state. The stream ends after the last state, and buffers 64
    /// states: a task that reads too slowly misses the oldest states.
    package func stream() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(64))
        let id = books.withLock { books -> UInt64? in
            // No task reads the stream yet: this resumes nothing.
            continuation.yield(books.delivered)
            guard !books.isFinal || books.isDelivering else { return nil }
            books.nextID += 1
            books.streams[books.nextID] = continuation
            return books.nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            // Released here, where the lock is free.
            let continuation = self?.books.withLock { $0.streams.removeValue(forKey: id) }
            withExtendedLifetime(continuation) {}
        }
        return stream
    }

    /// Makes a state the current one, and delivers it to the streams. Has no effect after the last state.
    ///
    /// - Parameters:
    ///   - state: The new state.
    ///   - isFinal: Whether the new state is the last state, after which the streams end.
    package func publish(_ state: State, isFinal: Bool = false) {
        publish { books in
            guard !books.isFinal else { return }
            books.state = state
            books.pending.append(state)
            books.isFinal = isFinal
        }
    }

    /// Makes the state that a closure returns the current one, and delivers it to the streams. Has no effect after the
    /// last state.
    ///
    /// - Parameter next: Returns the new state, or `nil` to keep the current state. Called while the lock is held:
    ///   states are published in the order of these calls. The closure must not call other code.
    package func update(_ next: () -> State?) {
        publish { books in
            guard let next = next(), !books.isFinal else { return }
            books.state = next
            books.pending.append(next)
        }
    }

    /// Ends the streams after they have received the states that were published so far. States that are published later
    /// are ignored.
    package func finish() {
        publish { $0.isFinal = true }
    }

    private func publish(_ change: (inout Books) -> Void) {
        // The state before is released where the lock is free: it may hold the last reference to an error.
        let (old, isOther) = books.withLock { books in
            let old = books.state
            change(&books)
            defer { books.isDelivering = true }
            return (old, books.isDelivering)
        }
        withExtendedLifetime(old) {}
        if isOther { return }
        while deliver() {}
    }

    /// Delivers the next state to the streams, or ends the streams.
    ///
    /// - Returns: `true` if a state was delivered: the caller must call this function again. `false` if there was no
    ///   state to deliver.
    private func deliver() -> Bool {
        let (next, streams, isOver, old) = books.withLock { books in
            let old = books.delivered
            let streams = books.streams.sorted { $0.key < $1.key }.map(\.value)
            guard let next = books.pending.first else {
                books.isDelivering = false
                if books.isFinal { books.streams = [:] }
                return (State?.none, streams, books.isFinal, old)
            }
            books.pending.removeFirst()
            books.delivered = next
            return (next, streams, false, old)
        }
        withExtendedLifetime(old) {}
        for stream in streams {
            if let next { stream.yield(next) }
            if isOver { stream.finish() }
        }
        return next != nil
    }
}
