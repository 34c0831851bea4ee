/// Runs its jobs at once, on the thread that brings them: before `enqueue` has returned.
@available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
package final class HastyExecutor: SerialExecutor {
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
    }
}
