import Foundation
import TaskControlHTTP

/// Awaits a call with a completion handler, for code that has only that. The caller's cancellation is the call's.
nonisolated(nonsending) func answer<Value: Sendable>(
    _ call: (@escaping Completion<Value>) -> Progress
) async throws -> Value {
    try await withCancellableContinuation { continuation in
        call { continuation.resume(with: $0) }
    }
}
