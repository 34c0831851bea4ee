internal import Foundation

extension ExchangeStateMachine.Failure {
    /// Returns the error that the reader of the response receives.
    ///
    /// - Parameter left: The error for the failure `left`: the body is read after the closure that received it has
    ///   returned.
    func error(left: any Error) -> any Error {
        switch self {
        case .network(let error): error
        case .malformed: URLError(.badServerResponse)
        case .cancelled: CancellationError()
        case .left: left
        }
    }
}
