import Foundation
import TaskControl

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Old code that was made `async` with a continuation, and knows nothing of cancellation: it waits for its answer, whatever comes.
final class LegacyClient: Sendable {
    private let api: API
    private let session = URLSession(configuration: .ephemeral)

    init(api: API) {
        self.api = api
    }

    func ask(_ subject: String) async throws -> Answer {
        let data = try await withCheckedThrowingContinuation { continuation in
            let request = api.request(subject)
            session.dataTask(with: request) { data, _, error in
                continuation.resume(with: Result { try data ?? { throw error ?? URLError(.unknown) }() })
            }.resume()
        }
        return try JSONDecoder().decode(Answer.self, from: data)
    }

    func close() {
        session.invalidateAndCancel()
    }
}

/// How a call ended, as its caller sees it.
enum Ending: Equatable, Sendable, CustomStringConvertible {
    case answered(String)
    case timeout(Duration)
    case cancellation
    case other(String)

    init(_ result: Result<Answer, any Error>) {
        self =
            switch result {
            case .success(let answer): .answered(answer.subject)
            case .failure(let error as TimeoutError): .timeout(error.duration)
            case .failure(is CancellationError): .cancellation
            case .failure(let error): .other("\(error)")
            }
    }

    var description: String {
        switch self {
        case .answered(let subject): "the answer about the \(subject)"
        case .timeout(let limit): "TimeoutError(\(limit.inMilliseconds))"
        case .cancellation: "CancellationError"
        case .other(let error): error
        }
    }
}

/// What an operation uses, and lets go of when it has ended.
final class Lent: Sendable {
    private let isReturned: Observed<Bool>

    init(isReturned: Observed<Bool>) {
        self.isReturned = isReturned
    }

    deinit {
        isReturned.update { $0 = true }
    }
}
