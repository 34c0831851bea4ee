import Foundation

func startedRequest(_ session: Session) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in  // expect: continuation
        let task = session.dataTask("a") { text, error in
            if let error {
                continuation.resume(throwing: error)
            } else {
                continuation.resume(returning: text ?? "")
            }
        }
        task.resume()
    }
}

func chainedRequest(_ session: Session) async -> String {
    await withCheckedContinuation { continuation in  // expect: continuation
        session.dataTask("a") { text, _ in continuation.resume(returning: text ?? "") }.resume()
    }
}

func discardedHandle(_ session: Session) async -> String {
    await withCheckedContinuation { continuation in  // expect: continuation
        _ = session.load("a") { continuation.resume(returning: $0) }
    }
}

func keptHandle(_ session: Session) async -> String {
    await withUnsafeContinuation { continuation in  // expect: continuation
        let request = session.load("a") { text in continuation.resume(returning: text) }
        print(request)
    }
}

func workItem() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in  // expect: continuation
        let item = DispatchWorkItem { continuation.resume() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 1, execute: item)
    }
}

func missingElse(_ session: Session) async -> String {
    await withCheckedContinuation { continuation in  // expect: continuation
        session.send("a") { text, _ in
            if let text { continuation.resume(returning: text) }
        }
    }
}

func missingGuard(_ session: Session) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in  // expect: continuation
        session.send("a") { text, error in
            if let error {
                continuation.resume(throwing: error)
                return
            }
            guard let text else { return }
            continuation.resume(returning: text)
        }
    }
}

func twice(_ session: Session) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in  // expect: continuation
        session.send("a") { text, error in
            if let error { continuation.resume(throwing: error) }
            continuation.resume(returning: text ?? "")
        }
    }
}

func missingCase(_ session: Session, _ kind: Int) async -> String {
    await withCheckedContinuation { continuation in  // expect: continuation
        switch kind {
        case 0: continuation.resume(returning: "")
        case 1: session.send("a") { text, _ in continuation.resume(returning: text ?? "") }
        default: break
        }
    }
}

func afterCatch(_ session: Session, _ read: @escaping () throws -> String) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in  // expect: continuation
        do {
            let text = try read()
            continuation.resume(returning: text)
        } catch {
            print(error)
        }
    }
}

final class Weak: @unchecked Sendable {
    var text = ""
    func load(_ session: Session) async -> String {
        await withCheckedContinuation { continuation in  // expect: continuation
            session.send("a") { [weak self] text, _ in
                guard let self else { return }
                continuation.resume(returning: self.text)
            }
        }
    }
}

func twiceInSequence() async -> Int {
    await withCheckedContinuation { continuation in  // expect: continuation
        DispatchQueue.global().async {
            continuation.resume(returning: 1)
            continuation.resume(returning: 2)
        }
    }
}
