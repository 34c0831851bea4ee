public import Foundation

/// The bytes of a response, as they arrive.
///
/// ```swift
/// for try await chunk in response.body { try file.write(contentsOf: chunk) }
/// ```
///
/// A body can be read once, by one reader, and only inside the closure that it was passed to. If two tasks read it at
/// the same time, the process possibly traps. The body has back-pressure: while the reader does not read, the transport
/// stops receiving, except ``URLSessionTransport`` on Linux.
///
/// If the body is cut short, the iteration throws. So a body that ends without an error is complete, except possibly a
/// compressed body of ``URLSessionTransport`` on Linux. A response without content, such as that to a HEAD, has an empty
/// body, whatever its `Content-Encoding`.
///
/// ## Cancellation
/// A reader that is cancelled while it waits for the next part receives an error: `CancellationError`, or the error
/// with which the transport reports the cancellation.
public struct HTTPResponseBody: AsyncSequence {
    /// The type of the elements: a part of the body. A part is never empty.
    public typealias Element = Data
    /// The type of the errors: see ``HTTPResponseBody/AsyncIterator/next()``.
    public typealias Failure = any Error

    private let next: () async throws -> Data?

    /// Creates a body that is read part by part: for transports.
    ///
    /// - Parameter next: Returns the next part, and `nil` after the last one. Not called again after it has returned
    ///   `nil` or thrown.
    public init(next: @escaping () async throws -> Data?) {
        self.next = next
    }

    /// Creates a body from data: for tests.
    public init(_ data: Data) {
        var rest: Data? = data.isEmpty ? nil : data
        self.init { rest.take() }
    }

    /// Returns this body with a limit for each wait for a part.
    func limited(by silence: SilenceLimit) -> HTTPResponseBody {
        HTTPResponseBody { [next] in
            silence.beginWait()
            let result: Result<Data?, any Error>
            do { result = .success(try await next()) } catch { result = .failure(error) }
            try silence.endWait()
            return try result.get()
        }
    }

    /// Returns the iterator over the parts. Must be called only once: a second iterator would not begin at the first
    /// part.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: next) }

    /// The iterator over the parts of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var next: (() async throws -> Data?)?

        fileprivate init(next: @escaping () async throws -> Data?) {
            self.next = next
        }

        /// Returns the next part; `nil` after the last one, and after an error.
        ///
        /// - Throws: If the body breaks off, the error of the transport, which a client passes on as the
        ///   ``EndpointError/underlyingError`` of an ``EndpointError`` with the reason ``EndpointError/Reason/transport``. If the
        ///   reader is cancelled, `CancellationError`, or the error with which the transport reports the cancellation.
        public mutating func next() async throws -> Data? {
            guard let read = next else { return nil }
            next = nil
            guard let chunk = try await read() else { return nil }
            next = read
            return chunk
        }
    }
}
