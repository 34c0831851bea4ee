import Foundation
import TaskControlHTTP

/// A client of old code: it calls back, and returns the task that can cancel the request.
final class LegacyClient: Sendable {
    private let address: URL
    private let session = URLSession(configuration: .ephemeral)

    init(address: URL) { self.address = address }

    func load(
        _ subject: String,
        completionHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) -> URLSessionTask {
        let url = address.appending(queryItems: [URLQueryItem(name: "q", value: subject)])
        let task = session.dataTask(with: url) { data, _, error in
            completionHandler(Result { try data ?? { throw error ?? URLError(.unknown) }() })
        }
        task.resume()
        return task
    }

    func close() { session.invalidateAndCancel() }
}

extension LegacyClient {
    /// Awaits the callback API with a checked continuation, as people write it today: it ignores cancellation, and waits for the answer in any case.
    func askStubbornly(_ subject: String) async throws -> Answer {
        let data = try await withCheckedThrowingContinuation { continuation in
            _ = load(subject) { continuation.resume(with: $0) }
        }
        return try JSONDecoder().decode(Answer.self, from: data)
    }

    /// Awaits the callback API with `withCancellableContinuation`, which accepts the task as it is.
    func ask(_ subject: String) async throws -> Answer {
        let data = try await withCancellableContinuation { continuation in
            load(subject) { continuation.resume(with: $0) }
        }
        return try JSONDecoder().decode(Answer.self, from: data)
    }
}

/// The end of a call, as its caller sees it.
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

/// An object that an operation uses, and releases when it has ended.
final class Lent: Sendable {
    private let isReturned: Observed<Bool>

    init(isReturned: Observed<Bool>) { self.isReturned = isReturned }

    deinit { isReturned.update { $0 = true } }
}
