internal import Foundation

extension HTTPResponseBody {
    /// The number of bytes after which an unwanted body is no longer read to its end.
    private static let discardLimit = 1 << 16

    /// Reads an unwanted body to its end if it is short, so that its connection can be used again.
    ///
    /// An error is ignored, since it affects only that connection.
    func discard() async {
        var count = 0
        var iterator = makeAsyncIterator()
        while count < Self.discardLimit, let part = try? await iterator.next() { count += part.count }
    }
}
