internal import TaskControl

/// The storage of a ``SharedConnection``: passes events to a ``SharedConnectionStateMachine`` under a lock, and acts on its
/// answers after unlocking.
final class SharedConnectionStorage<Connection: Sendable, Element: Sendable>: Sendable {
    typealias Stream = AsyncThrowingStream<Element, any Error>

    private struct Books {
        var machine = SharedConnectionStateMachine()
        /// The supervised work that has begun last; `nil` while it is being created, and when it has ended.
        var work: SupervisedWork?
        var connection: Connection?
        var last: Element?
        /// The last state of the last work that has ended.
        var end = SupervisedWork.State.stopped
        var streams: [UInt64: Stream.Continuation] = [:]
    }

    let lifetime: AsyncLifetime
    let publication = StatePublication<SupervisedWork.State>(.stopped)
    private let start: @Sendable (SharedConnectionStorage) -> SupervisedWork
    private let books = Locked(Books())

    /// - Parameter start: Starts the supervised work in the lifetime.
    init(_ name: String, start: @escaping @Sendable (SharedConnectionStorage) -> SupervisedWork) {
        lifetime = AsyncLifetime(name: name)
        self.start = start
    }

    deinit { publication.finish() }

    var userCount: Int { books.withLock(\.machine.userCount) }

    // MARK: Users

    func stream(_ policy: Stream.Continuation.BufferingPolicy) -> Stream {
        let (stream, continuation) = Stream.makeStream(bufferingPolicy: policy)
        let (user, begins) = books.withLock { books in
            let (user, begins) = books.machine.join()
            books.streams[user] = continuation
            return (user, begins)
        }
        // May be called by a cancellation handler, in which no other task is cancelled.
        continuation.onTermination = { _ in self.leave(user, mayCancel: false) }
        if begins { begin() }
        return stream
    }

    nonisolated(nonsending) func use<Value>(
        _ operation: nonisolated(nonsending) (Connection) async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let (user, begins) = books.withLock { $0.machine.join() }
        defer { leave(user, mayCancel: true) }
        if begins { begin() }
        while true {
            let connection = books.withLock { $0.machine.isConnected ? $0.connection : nil }
            if let connection { return try await operation(connection) }
            try await waitUntilConnected(user)
        }
    }

    /// Removes a user, and ends the work if it was the last one.
    ///
    /// - Parameter mayCancel: Whether this call may cancel the work itself, since it is outside cancellation handlers.
    private func leave(_ user: UInt64, mayCancel: Bool) {
        let (work, stream) = books.withLock { books in
            let work = books.machine.leave(user) ? books.work : nil
            return (work, books.streams.removeValue(forKey: user))
        }
        withExtendedLifetime(stream) {}
        guard let work else { return }
        if mayCancel { work.cancel() } else { performOutsideHandler { work.cancel() } }
    }

    /// Waits until the work is connected.
    ///
    /// - Parameter user: The number of the caller; `nil` for a caller that is no user.
    /// - Throws: `CancellationError` if the caller is cancelled; ``SupervisionError`` if the work has ended.
    nonisolated(nonsending) func waitUntilConnected(_ user: UInt64? = nil) async throws {
        switch books.withLock({ $0.machine.enroll(user) }) {
        case .reached: return
        case .ended: break
        case .waits(let id):
            let outcome = await suspend { waiter in
                books.withLock { $0.machine.park(id, Word(waiter)) }
            } onCancel: {
                books.withLock { $0.machine.leave(id) }?.resume(returning: .left)
            } raising: { [lifetime] priority in
                lifetime.raise(to: priority)
            }
            if outcome == .reached { return }
        }
        // A cancelled caller receives CancellationError.
        try Task.checkCancellation()
        throw SupervisionError(of: books.withLock(\.end), name: lifetime.name ?? "")
    }

    // MARK: The work

    /// Starts the work, and follows its state until it has ended.
    private func begin() {
        let work = start(self)
        let mustEnd = books.withLock { books in
            books.work = work
            return books.machine.phase == .ending
        }
        // The last user has left meanwhile.
        if mustEnd { work.cancel() }
        Task(name: "\(work.name): state") {
            for await state in work.states { publication.publish(state) }
            ended(work.state)
        }
    }

    private func ended(_ state: SupervisedWork.State) {
        let (streams, woken, begins, old) = books.withLock { books in
            let old = (books.work, books.connection, books.last, books.end)
            let (users, woken, begins) = books.machine.ended()
            (books.work, books.connection, books.last, books.end) = (nil, nil, nil, state)
            return (users.sorted().compactMap { books.streams.removeValue(forKey: $0) }, woken, begins, old)
        }
        // Released here, where the lock is free.
        withExtendedLifetime(old) {}
        var error: (any Error)?
        if case .failed = state { error = SupervisionError(of: state, name: lifetime.name ?? "") }
        for stream in streams { stream.finish(throwing: error) }
        for waiter in woken { waiter.resume(returning: .ended) }
        if begins { begin() }
    }

    var last: Element? { books.withLock(\.last) }

    func connected(_ connection: Connection) {
        let woken = books.withLock { books in
            books.connection = connection
            return books.machine.connected()
        }
        for waiter in woken { waiter.resume(returning: .reached) }
    }

    func lost() {
        let connection = books.withLock { books in
            books.machine.lost()
            return books.connection.take()
        }
        withExtendedLifetime(connection) {}
    }

    func receive(_ element: Element) {
        let (streams, old) = books.withLock { books in
            let old = books.last
            books.last = element
            return (books.machine.phase == .running ? Array(books.streams.values) : [], old)
        }
        withExtendedLifetime(old) {}
        for stream in streams { stream.yield(element) }
    }
}
