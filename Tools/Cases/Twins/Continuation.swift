import Foundation

func cancellable(_ session: Session) async throws -> String {
    nonisolated(unsafe) var task: Request?
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
            task = session.dataTask("a") { text, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume(returning: text ?? "") }
            }
            task?.resume()
        }
    } onCancel: {
        task?.cancel()
    }
}

func withoutHandle(_ session: Session) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        session.send("a") { text, error in
            if let text {
                continuation.resume(returning: text)
            } else {
                continuation.resume(throwing: error ?? Timeout())
            }
        }
    }
}

func twoCallbacks(_ session: Session) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        session.send("a") { text in
            continuation.resume(returning: text)
        } failure: { error in
            continuation.resume(throwing: error)
        }
    }
}

func everyPath(_ session: Session) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        session.send("a") { text, error in
            if let error {
                continuation.resume(throwing: error)
                return
            }
            guard let text else {
                continuation.resume(throwing: Timeout())
                return
            }
            continuation.resume(returning: text)
        }
    }
}

final class Waiters: @unchecked Sendable {
    var stored: CheckedContinuation<String, Never>?
    var list: [CheckedContinuation<String, Never>] = []

    // Stored: others resume it.
    func store() async -> String {
        await withCheckedContinuation { continuation in stored = continuation }
    }

    func append(_ isReady: Bool) async -> String {
        await withCheckedContinuation { continuation in
            if isReady { continuation.resume(returning: "") } else { list.append(continuation) }
        }
    }

    // Passed on.
    func pass() async -> String {
        await withCheckedContinuation { continuation in
            take(continuation)
        }
    }

    func take(_ continuation: CheckedContinuation<String, Never>) { continuation.resume(returning: "") }
}

func decided(_ read: @escaping () throws -> String) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        do {
            let text = try read()
            continuation.resume(returning: text)
        } catch {
            continuation.resume(throwing: error)
        }
    }
}

func everyCase(_ result: Result<String, Error>) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
        switch result {
        case .success(let text): continuation.resume(returning: text)
        case .failure(let error): continuation.resume(throwing: error)
        }
    }
}

func deferred(_ session: Session) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        session.send("a") { text, _ in
            defer { continuation.resume() }
            guard let text else { return }
            print(text)
        }
    }
}

func onQueue() async -> Int {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: 1) }
    }
}
