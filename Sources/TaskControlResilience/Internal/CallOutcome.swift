/// The outcome of a call, as far as it gives information about the service.
enum CallOutcome: Hashable, Sendable, CaseIterable {
    /// The service has answered, perhaps with an error that is not a failure.
    case healthy
    /// The service has failed.
    case failed
    /// The call gives no information: the caller was cancelled, or the call was not made.
    case unknown

    /// Classifies an error.
    ///
    /// - Parameters:
    ///   - error: The error of the call.
    ///   - isCancelled: Whether the caller was cancelled.
    ///   - isFailure: Returns whether the error is a failure of the service. It is code of the user of this package, so
    ///     this initializer must not be called while a lock is held.
    init(of error: any Error, isCancelled: Bool, isFailure: (any Error) -> Bool) {
        self = isCancelled || error is any LocalRefusal ? .unknown : isFailure(error) ? .failed : .healthy
    }
}
