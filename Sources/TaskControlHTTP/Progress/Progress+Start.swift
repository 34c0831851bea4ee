public import Dispatch
public import Foundation

extension Progress {
    /// Starts an operation in a task of its own, and returns its progress.
    ///
    /// ```swift
    /// let progress = Progress.start(totalUnitCount: 3) { progress in
    ///     for page in 1...3 {
    ///         try await fetch(page)
    ///         progress.completedUnitCount += 1
    ///     }
    /// }
    /// cancelButton.action = { progress.cancel() }
    /// ```
    ///
    /// The task has the caller's task-locals and priority, and continues even if the progress is released. When the
    /// task has ended, the progress is finished, whether the operation succeeded or not.
    ///
    /// ## Cancellation
    /// Cancelling the progress or its parent cancels the task. If the progress is cancelled before the operation
    /// begins, the operation does not run.
    ///
    /// - Parameters:
    ///   - totalUnitCount: The number of units of work. By default the number is not known: the progress is
    ///     indeterminate until the operation sets `totalUnitCount`.
    ///   - operation: The work. It may set the unit counts, and give the progress children. An error that it throws is
    ///     reported to diagnostics, since no caller waits for it.
    public static func start(
        totalUnitCount: Int64 = -1,
        operation: @escaping @Sendable (Progress) async throws -> Void
    ) -> Progress {
        begin(totalUnitCount: totalUnitCount) { progress in
            do {
                // Work that is cancelled before it begins does not begin.
                if !Task.isCancelled { try await operation(progress) }
            } catch {
                await settle(error, in: .progressStart, handler: nil)
            }
        }
    }

    /// Starts an operation in a task of its own, passes the result to a completion handler, and returns the progress.
    ///
    /// Use this function to offer a callback form of `async` code:
    ///
    /// ```swift
    /// func fetchBooks(completion: @escaping @Sendable (Result<[Book], any Error>) -> Void) -> Progress {
    ///     Progress.start(completionQueue: .main) { _ in try await self.fetchBooks() } completionHandler: { completion($0) }
    /// }
    /// ```
    ///
    /// ## Cancellation
    /// Cancelling the progress or its parent cancels the task. If the progress is cancelled before the operation
    /// begins, the operation runs nevertheless, in a cancelled task: most operations then throw `CancellationError`,
    /// which the handler receives.
    ///
    /// - Parameters:
    ///   - totalUnitCount: The number of units of work. By default the number is not known: the progress is
    ///     indeterminate until the operation sets `totalUnitCount`.
    ///   - completionQueue: The queue that calls the handler.
    ///   - operation: The work. It may set the unit counts, and give the progress children.
    ///   - completionHandler: Called once, asynchronously on `completionQueue`, after the progress has finished.
    public static func start<Value: Sendable>(
        totalUnitCount: Int64 = -1,
        completionQueue: DispatchQueue,
        operation: @escaping @Sendable (Progress) async throws -> Value,
        completionHandler: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> Progress {
        begin(totalUnitCount: totalUnitCount) { progress in
            let result: Result<Value, any Error>
            do {
                result = .success(try await operation(progress))
            } catch {
                result = .failure(error)
            }
            progress.finish()
            completionQueue.async { completionHandler(result) }
        }
    }

    /// Starts work in a task of its own, and returns its progress. The work begins even if the progress has been
    /// cancelled already, and must handle its errors itself.
    private static func begin(totalUnitCount: Int64, _ work: @escaping @Sendable (Progress) async -> Void) -> Progress {
        Progress.cancelling(totalUnitCount: totalUnitCount) { progress in
            spawn {
                await work(progress)
                progress.finish()
            }
        }
    }

    /// Marks the progress as finished, because no more units will be completed.
    fileprivate func finish() {
        guard !isFinished else { return }
        if totalUnitCount <= 0 { totalUnitCount = max(1, completedUnitCount) }
        completedUnitCount = totalUnitCount
    }
}
