internal import Foundation
internal import TaskControl

extension HTTPResponseBody {
    /// The number of bytes after which an unwanted body is no longer read to its end.
    private static let discardLimit = 1 << 16
    /// The time after which it is no longer read: a new connection takes less, except to the other side of the earth.
    private static let discardTime = Duration.seconds(1)

    /// Reads an unwanted body to its end if it is short and arrives soon, so that its connection can be used again.
    ///
    /// An error is ignored, since it affects only that connection.
    func discard() async {
        try? await withTimeout(Self.discardTime) {
            var count = 0
            var iterator = makeAsyncIterator()
            while count < Self.discardLimit, let part = try await iterator.next() { count += part.count }
        }
    }
}
