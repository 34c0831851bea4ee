public import Dispatch
public import Foundation

/// An object that reports the progress of a client's call to a closure: one report after another, although several
/// threads update the progress.
///
/// While one thread reports, the others only record their updates: the reporting thread reports once more, with the
/// newest values. Late updates of an attempt that has ended are not reported.
final class ProgressReporter: Sendable {
    private struct State {
        var progress = TransferProgress()
        /// The number of the attempt whose progress is reported. Updates of attempts with another number are ignored.
        var attempt = 0
        var isReported = true
        var isReporting = false
    }

    private let state = Locked(State())
    private let report: @Sendable (TransferProgress) -> Void

    init(_ report: @escaping @Sendable (TransferProgress) -> Void) {
        self.report = report
    }

    /// Begins the reports of an attempt, and ends those of the attempt before.
    ///
    /// - Returns: The object that records the progress of the attempt.
    func begin() -> Transfer {
        let number = state.withLock { state in
            state.attempt += 1
            state.progress = TransferProgress()
            return state.attempt
        }
        return Transfer(reporter: self, number: number)
    }

    /// Ends the reports of an attempt. Updates that were not reported yet are dropped. Does not wait for a report that
    /// another thread is making now: that report may still arrive after this function has returned.
    ///
    /// - Parameter number: The number of the attempt. If another attempt has begun, the call has no effect.
    private func end(_ number: Int) {
        state.withLock { state in
            guard state.attempt == number else { return }
            state.attempt += 1
            state.isReported = true
        }
    }

    /// An object that records the progress of one attempt, for the ``ProgressReporter`` of its call.
    struct Transfer: Sendable {
        fileprivate let reporter: ProgressReporter
        fileprivate let number: Int

        var didSend: @Sendable (Int64, Int64?) -> Void {
            { sent, expected in
                reporter.update(number) {
                    $0.sent = sent
                    $0.expectedToSend = expected
                }
            }
        }

        /// Records the length of the body, if the head of the response contains it.
        ///
        /// - Parameters:
        ///   - response: The head of the response.
        ///   - position: The number of bytes that an earlier attempt or call has received. They are added to the
        ///     progress.
        func expect(_ response: HTTPURLResponse, from position: Int64 = 0) {
            let length = response.isContentEncoded ? nil : response.contentLength
            reporter.update(number) {
                $0.received += position
                let (total, overflows) = position.addingReportingOverflow(length ?? 0)
                $0.expectedToReceive = length == nil || overflows ? nil : total
            }
        }

        func didReceive(_ count: Int) {
            reporter.update(number) { $0.received += Int64(count) }
        }

        /// Records the progress of a response whose body is complete.
        func show(_ response: ReceivedResponse) {
            if let head = response.head { expect(head) }
            didReceive(response.body?.count ?? 0)
        }

        func end() { reporter.end(number) }
    }

    private func update(_ number: Int, _ change: (inout TransferProgress) -> Void) {
        let mayReport = state.withLock { state in
            guard state.attempt == number else { return false }
            change(&state.progress)
            state.isReported = false
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard mayReport else { return }
        while let progress = state.withLock({ state -> TransferProgress? in
            if state.isReported {
                state.isReporting = false
                return nil
            }
            state.isReported = true
            return state.progress
        }) {
            report(progress)
        }
    }
}

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

// The cancellable handles that callback APIs of Foundation return: `withCancellableContinuation` accepts them.

extension Progress: Cancellable {}

/// Lets `withCancellableContinuation` cancel a task of a `URLSession`.
///
/// On Linux, do not call `cancel()` on the session's internal work queue, for example in a delegate method that
/// Foundation calls there: `cancel()` waits for that queue with `sync`, so it would wait for itself.
extension URLSessionTask: Cancellable {}

/// Lets `withCancellableContinuation` cancel a work item.
///
/// A work item that has begun continues when it is cancelled, unless it checks `isCancelled` itself. A work item that
/// never begins calls nothing back: the caller then receives `ContinuationDroppedError` when the item is released.
extension DispatchWorkItem: Cancellable {}
