/// The bytes of a response, as they arrive.
///
/// ```swift
/// for try await chunk in response.body { try file.write(contentsOf: chunk) }
/// ```
///
/// A body can be read once, by one reader, and only inside the closure that it was passed to. The body has back-pressure: while
/// the reader does not read, the transport stops receiving, as far as it can.
///
/// A body that is cut short throws, so a body that ends without an error is complete. ``URLSessionTransport`` names an exception:
/// compressed bodies on Linux.
///
/// ## Cancellation
/// A reader that is cancelled while it waits for the next part gets an error: `CancellationError`, or what its
/// transport makes of that.
public struct HTTPResponseBody: AsyncSequence {
    /// A part of the body, of any size but zero.
    public typealias Element = Data
    /// The transport's own error, or `CancellationError`.
    public typealias Failure = any Error

    private let next: () async throws -> Data?

    /// Creates a body that is read part by part: for transports.
    ///
    /// - Parameter next: The next part, `nil` after the last one. Not called again after that, nor after it has thrown.
    public init(next: @escaping () async throws -> Data?) {
        self.next = next
    }

    /// Creates a body from data: for tests.
    public init(_ data: Data) {
        var rest: Data? = data.isEmpty ? nil : data
        self.init { rest.take() }
    }

    /// Returns the iterator over the parts. Must be called once only.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: next) }

    /// The iterator over the parts of the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var next: (() async throws -> Data?)?

        fileprivate init(next: @escaping () async throws -> Data?) {
            self.next = next
        }

        /// Returns the next part; `nil` after the last one.
        public mutating func next() async throws -> Data? {
            guard let read = next else { return nil }
            next = nil
            guard let chunk = try await read() else { return nil }
            next = read
            return chunk
        }
    }
}
