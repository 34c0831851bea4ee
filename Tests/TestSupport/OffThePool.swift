internal import Dispatch
internal import Foundation
internal import TaskControl
internal import TaskControlTesting

/// Does something long on a thread of its own: a simulation blocks its thread, and the pool has few, which other tests need.
///
/// As many do something at a time as there are processors: hundreds at once would take memory and time from each other, and end no earlier.
///
/// The result is passed on under a lock. A bare continuation would not do: if it is resumed before its task has parked, the runtime does
/// not tell ThreadSanitizer of it, which then reports a race.
@discardableResult
package func offThePool<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
) async throws -> Value {
    let (done, result) = (Gate(), Locked<Result<Value, any Error>?>(nil))
    Thread.detachNewThread {
        places.wait()
        let value = Result(catching: work)
        places.signal()
        result.withLock { $0 = value }
        done.open()
    }
    await done.waitIgnoringCancellation()
    return try result.withLock { $0 }!.get()
}

private let places = DispatchSemaphore(value: max(2, ProcessInfo.processInfo.activeProcessorCount))
