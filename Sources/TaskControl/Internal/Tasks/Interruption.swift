/// An error that can mean that work was interrupted, beside `CancellationError`: its owner was closed, for example, while a caller waited that was
/// not cancelled itself. See ``isInterruption(_:)``.
package protocol Interruption: Error {
    /// Whether the error means an interruption. By default `true`; an error that contains another one returns the answer for that one.
    var isInterruption: Bool { get }
}

extension Interruption {
    package var isInterruption: Bool { true }
}

/// Returns whether an error means that work was interrupted, so that it shows nothing about the service that the work was for: the error is not
/// cached, is not worth a retry, and counts neither for a breaker nor for a budget.
///
/// The answer is for code that learns from the error. A caller receives the error unchanged, and if the task of the caller is not cancelled, the
/// error is an ordinary error for that caller.
///
/// - Parameter error: The error of the work.
@usableFromInline
package func isInterruption(_ error: any Error) -> Bool {
    error is CancellationError || (error as? any Interruption)?.isInterruption == true
}
