import FlyingSocks
import Foundation

/// The delivery of one answer into its connection, which reports once how it ended.
///
/// The server releases an answer's bytes when it has written them, and also when it could not: a last reference that is released before
/// ``complete()`` was called means that the client did not take all of it.
final class Delivery: Sendable {
    private let isComplete = Observed(false)
    private let ended: @Sendable (_ isComplete: Bool) -> Void

    init(ended: @escaping @Sendable (_ isComplete: Bool) -> Void) {
        self.ended = ended
    }

    deinit {
        if !isComplete.value { ended(false) }
    }

    func complete() {
        let isFirst = isComplete.update { isComplete in
            defer { isComplete = true }
            return !isComplete
        }
        if isFirst { ended(true) }
    }
}

/// An answer's bytes, in one piece. The server asks for a second piece when it has written the first: then the answer is complete.
struct TrackedBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    let bytes: Data
    /// Whether only half of the bytes are sent, and then an error: the server closes the connection.
    let breaksOff: Bool
    let delivery: Delivery

    func makeAsyncIterator() -> Iterator {
        Iterator(rest: breaksOff ? bytes.prefix(bytes.count / 2) : bytes, breaksOff: breaksOff, delivery: delivery)
    }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var rest: Data
        let breaksOff: Bool
        let delivery: Delivery

        mutating func next() async throws -> UInt8? {
            guard !rest.isEmpty else {
                try end()
                return nil
            }
            return rest.removeFirst()
        }

        mutating func nextBuffer(suggested count: Int) async throws -> Data? {
            guard !rest.isEmpty else {
                try end()
                return nil
            }
            defer { rest = Data() }
            return rest
        }

        private func end() throws {
            if breaksOff { throw BrokenOff() }
            delivery.complete()
        }
    }
}

private struct BrokenOff: Error {}
