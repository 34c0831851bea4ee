internal import Foundation

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
