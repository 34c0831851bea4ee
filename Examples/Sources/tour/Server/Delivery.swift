import FlyingSocks
import Foundation

/// Follows one answer into its connection, and says once how that ended.
///
/// The server lets go of an answer's bytes when it has written them, and also when it could not: that the last reference goes before
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
    let delivery: Delivery

    func makeAsyncIterator() -> Iterator { Iterator(rest: bytes, delivery: delivery) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        var rest: Data
        let delivery: Delivery

        mutating func next() async -> UInt8? {
            guard !rest.isEmpty else {
                delivery.complete()
                return nil
            }
            return rest.removeFirst()
        }

        mutating func nextBuffer(suggested count: Int) async -> Data? {
            guard !rest.isEmpty else {
                delivery.complete()
                return nil
            }
            defer { rest = Data() }
            return rest
        }
    }
}
