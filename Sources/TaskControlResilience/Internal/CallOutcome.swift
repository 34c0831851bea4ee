/// The information of a call about the service behind it.
enum CallOutcome: Hashable, Sendable, CaseIterable {
    /// The service has answered.
    case healthy
    /// The service has failed.
    case failed
    /// The call gives no information: the caller was cancelled, or the call was not made.
    case unknown

    /// Classifies an error.
    ///
    /// - Parameter isFailure: Code of the client, so never called while holding a lock.
    init(of error: any Error, isCancelled: Bool, isFailure: (any Error) -> Bool) {
        self = isCancelled || error is any LocalRefusal ? .unknown : isFailure(error) ? .failed : .healthy
    }
}
