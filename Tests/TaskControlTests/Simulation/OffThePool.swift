import Foundation

/// Does something long on a thread of its own: a simulation blocks its thread, and the pool has few, which other tests need.
func offThePool<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withUnsafeContinuation { (continuation: UnsafeContinuation<Result<Value, any Error>, Never>) in
        Thread.detachNewThread { continuation.resume(returning: Result(catching: work)) }
    }.get()
}
