/// The error of a callback API that released its callback without calling it, so that the continuation could never be
/// resumed.
///
/// The caller of `withCancellableContinuation`, which would otherwise have waited forever, throws this error. The
/// dropped continuation is also reported to diagnostics, since it is a mistake in the program: a path on which the
/// completion handler is not called, or a delegate that was released too early. A caller that was cancelled throws
/// `CancellationError` instead.
public struct ContinuationDroppedError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file of the call of `withCancellableContinuation`, in the form of `#fileID`.
    public let fileID: String
    /// The line of the call of `withCancellableContinuation`.
    public let line: Int

    /// Creates the error for a call of `withCancellableContinuation`, for example in a test. By default, the file and line are those of the code that
    /// creates the error.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call.
    ///   - line: The line of the call.
    public init(fileID: String = #fileID, line: Int = #line) {
        self.fileID = fileID
        self.line = line
    }

    /// The error in words: the file and line of the call of `withCancellableContinuation`, and the mistakes to look
    /// for.
    public var description: String {
        "The continuation of withCancellableContinuation at \(fileID):\(line) was dropped, so no code can resume it any more. Look for a "
            + "path on which the callback is not called, and for an owner of the callback, such as a delegate, that was deallocated too early."
    }
}

extension ContinuationDroppedError: ProgrammingMistake {}
