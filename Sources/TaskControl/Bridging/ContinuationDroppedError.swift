/// A callback API has let go of its callback without calling it: nobody was left who could have resumed the continuation.
///
/// Thrown to the caller, who would otherwise have waited for ever, and reported to diagnostics, since it is a mistake: a path on which the
/// completion handler is not called, or a delegate that went too early.
public struct ContinuationDroppedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file of the call, as `#fileID`.
    public let fileID: String
    /// The line of the call.
    public let line: Int

    /// The error of a call: by default of the line that makes it.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call.
    ///   - line: The line of the call.
    public init(fileID: String = #fileID, line: Int = #line) {
        self.fileID = fileID
        self.line = line
    }

    /// Which call it was, and what to do.
    public var description: String {
        "The continuation of withCancellableContinuation at \(fileID):\(line) was dropped, and nobody is left who could resume it. Look for "
            + "a path on which the callback is not called, and for an owner of the callback, as a delegate, that went too early."
    }
}
