/// The replies that the requests of one connection wait for, each found by the ID of its request.
///
/// ```swift
/// let replies = PendingReplies<Int, Page>(name: "pages")
///
/// func page(_ number: Int) async throws -> Page {
///     let reply = try replies.expect(number)              // first: from here on, no reply is missed
///     try await send("page \(number)")
///     return try await withTimeout(.seconds(5)) { try await reply.value }
/// }
///
/// // the reader of the connection
/// func received(_ page: Page, number: Int) { replies.resume(number, returning: page) }
/// func lost(_ error: any Error) { replies.close(throwing: error) }
/// ```
///
/// Use it for a protocol whose replies carry the number of their request, such as JSON-RPC over a socket or a process, or
/// the correlation ID of a message broker. An object of this type belongs to one connection: make another one for the
/// next connection, so that the end of the old one cannot fail the requests of the new one. <doc:CallbackAPIs> has a
/// connection with all of its parts.
///
/// Safe to use from any thread and any isolation. An ID needs `Hashable` and nothing else, as in a ``TaskStore``.
///
/// Releasing this object fails the requests that still wait, with ``CancellationCause/ownerDeallocated(name:)``.
///
/// Related APIs: `withCancellableContinuation` is for an API that calls back once per request. ``SingleFlight`` shares the
/// reply among callers that send the same request.
public final class PendingReplies<ID: Hashable, Value: Sendable>: Sendable {
    @usableFromInline let _table: _ReplyTable

    /// Creates an object that expects no reply yet.
    ///
    /// - Parameter name: The name shown in errors and diagnostics; `nil` for none.
    public init(name: String? = nil) {
        _table = _ReplyTable(name: name)
    }

    deinit {
        _table.close(CancellationCause.ownerDeallocated(name: name))
        _table.source.emit(.deallocated)
    }

    /// The name shown in errors and diagnostics; `nil` if this object has none.
    public var name: String? { _table.source.name }

    /// The number of requests whose reply is expected. It may have changed by the time the caller uses it.
    public var count: Int { _table.count }

    /// Registers the ID of a request, before the request is sent.
    ///
    /// The ID is registered when this function returns, so that a reply, the end of the connection, and `resume` find it from
    /// then on. It is removed when the reply has come, or when the last copy of the returned ``Reply`` is released: a caller
    /// that throws, is cancelled, or has reached its time limit leaves no entry.
    ///
    /// - Parameter id: The ID of the request. If it is registered already, the earlier request throws
    ///   ``CancellationCause/superseded(key:)``, and the reply belongs to the new one. Its `==`, which is called if hashes are
    ///   equal, runs while a lock is held, and must not call this object.
    /// - Returns: The expected reply, to await after the request was sent.
    /// - Throws: The error of ``close(throwing:)``, if this object is closed: do not send the request.
    /// - Complexity: O(1) on average.
    @export(implementation)
    public func expect(_ id: sending ID) throws -> Reply {
        let promise = _TypedPromise<Value>()
        return Reply(promise, try _table.expect(_ErasedKey(id), promise))
    }

    /// Resumes the request with an ID, with its reply. The ID can then be used again.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - value: The reply.
    /// - Returns: Whether the reply was expected. If not, it came too late or a second time, or to no request: it is ignored,
    ///   and observers receive an event.
    /// - Complexity: O(1) on average, and O(*n*) in the number of callers that await the reply.
    @export(implementation)
    @discardableResult
    public func resume(_ id: ID, returning value: Value) -> Bool {
        resume(id, with: Result<Value, Never>.success(value))
    }

    /// Fails the request with an ID, for example with the error that the reply contains, or because the request was
    /// cancelled by its ID. The ID can then be used again.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - error: The error that the caller throws; if the caller is cancelled, it throws `CancellationError` instead.
    /// - Returns: Whether a reply was expected, as for ``resume(_:returning:)``.
    /// - Complexity: O(1) on average, and O(*n*) in the number of callers that await the reply.
    @export(implementation)
    @discardableResult
    public func resume(_ id: ID, throwing error: any Error) -> Bool {
        resume(id, with: Result<Value, any Error>.failure(error))
    }

    /// Resumes the request with an ID, with a reply or an error. The ID can then be used again.
    ///
    /// - Parameters:
    ///   - id: The ID of the request.
    ///   - result: The reply, or the error that the caller throws.
    /// - Returns: Whether a reply was expected, as for ``resume(_:returning:)``.
    /// - Complexity: O(1) on average, and O(*n*) in the number of callers that await the reply.
    @export(implementation)
    @discardableResult
    public func resume<Failure: Error>(_ id: ID, with result: Result<Value, Failure>) -> Bool {
        // Only the code that takes the promise out of the table sets its result.
        guard let promise = _table.take(_ErasedKey(id)) else { return false }
        return unsafeDowncast(promise, to: _TypedPromise<Value>.self).complete(with: result)
    }

    /// Fails all requests whose reply is expected, and refuses later ones, because the connection has ended.
    ///
    /// The first call counts. Replies that come later are ignored, as those that are not expected.
    ///
    /// - Parameter error: The error that the callers throw, and every later call of ``expect(_:)``; `nil` for
    ///   ``CancellationCause/shutdown(name:)``. A caller that is cancelled throws `CancellationError` instead.
    /// - Complexity: O(*n*) in the number of requests and their callers.
    public func close(throwing error: (any Error)? = nil) {
        _table.close(error ?? CancellationCause.shutdown(name: name))
    }

    /// The expected reply to one request. The ID of the request stays registered until the reply has come, or the last copy of
    /// this value is released.
    public struct Reply: Sendable {
        @usableFromInline let _promise: _TypedPromise<Value>
        @usableFromInline let _registration: _ReplyRegistration

        @export(implementation)
        init(_ promise: _TypedPromise<Value>, _ registration: _ReplyRegistration) {
            _promise = promise
            _registration = registration
        }

        /// The reply. Waits until it has come; can be awaited by several callers, and again after a time limit.
        ///
        /// ## Cancellation
        /// A cancelled caller stops waiting immediately, and throws `CancellationError`. The reply is still expected while
        /// a copy of this value exists. If the reply comes at the same time as the cancellation, the caller receives it.
        ///
        /// - Throws: The error of ``PendingReplies/resume(_:throwing:)`` or ``PendingReplies/close(throwing:)``;
        ///   ``CancellationCause`` if a request with the same ID was registered later, or if the ``PendingReplies`` was
        ///   closed without an error or deallocated; `CancellationError` if the caller is cancelled, in place of these
        ///   errors.
        /// - Complexity: O(1).
        @export(implementation)
        public nonisolated(nonsending) var value: Value {
            get async throws {
                try await _registration.wait(for: _promise)
                return _promise.value!
            }
        }
    }
}
