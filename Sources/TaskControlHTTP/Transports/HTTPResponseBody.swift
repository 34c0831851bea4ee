/// The bytes of a response, as they arrive.
///
/// ```swift
/// for try await chunk in response.body { try file.write(contentsOf: chunk) }
/// ```
///
/// To be read once, by one reader, and only inside the closure that it was given to. What is not read is not received
/// either: the transport waits, as far as it can.
///
/// A body that is cut short throws. So its end means that it was whole. ``URLSessionTransport`` names an exception:
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

    /// A body that is read part by part: for transports.
    ///
    /// - Parameter next: The next part, `nil` after the last one. Not called again after that, nor after it has thrown.
    public init(next: @escaping () async throws -> Data?) {
        self.next = next
    }

    /// A body that is there: for tests.
    public init(_ data: Data) {
        var rest: Data? = data.isEmpty ? nil : data
        self.init { rest.take() }
    }

    /// To be called once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(next: next) }

    /// Reads the body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var next: (() async throws -> Data?)?

        fileprivate init(next: @escaping () async throws -> Data?) {
            self.next = next
        }

        /// The next part; `nil` after the last one.
        public mutating func next() async throws -> Data? {
            guard let read = next else { return nil }
            next = nil
            guard let chunk = try await read() else { return nil }
            next = read
            return chunk
        }
    }
}
