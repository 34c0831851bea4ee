import TaskControlHTTP

/// Old code: it calls back, and returns the task by which it can be cancelled.
final class LegacyClient: Sendable {
    private let address: URL
    private let session = URLSession(configuration: .ephemeral)

    init(address: URL) {
        self.address = address
    }

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

    func close() {
        session.invalidateAndCancel()
    }
}

extension LegacyClient {
    /// Made `async` as people do it today, with a continuation that knows nothing of cancellation: it waits for its answer, whatever comes.
    func askStubbornly(_ subject: String) async throws -> Answer {
        let data = try await withCheckedThrowingContinuation { continuation in
            _ = load(subject) { continuation.resume(with: $0) }
        }
        return try JSONDecoder().decode(Answer.self, from: data)
    }

    /// Made `async` with `withCancellableContinuation`, which takes the task as it is.
    func ask(_ subject: String) async throws -> Answer {
        let data = try await withCancellableContinuation { continuation in
            load(subject) { continuation.resume(with: $0) }
        }
        return try JSONDecoder().decode(Answer.self, from: data)
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

/// An object that an operation uses, and releases when it has ended.
final class Lent: Sendable {
    private let isReturned: Observed<Bool>

    init(isReturned: Observed<Bool>) {
        self.isReturned = isReturned
    }

    deinit {
        isReturned.update { $0 = true }
    }
}
