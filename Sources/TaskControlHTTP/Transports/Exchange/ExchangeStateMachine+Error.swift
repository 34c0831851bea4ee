extension ExchangeStateMachine.Failure {
    /// Returns the error for the reader.
    ///
    /// - Parameter left: The transport's error for a body that is read after the closure that received it has returned.
    func error(left: any Error) -> any Error {
        switch self {
        case .network(let error): error
        case .malformed: URLError(.badServerResponse)
        case .cancelled: CancellationError()
        case .left: left
        }
    }
}
