extension HTTPResponseBody {
    /// The largest number of bytes that are read so that the connection can be used again.
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
