/// Tells how far a call has come: one report after another, though it is told so from several threads.
///
/// While one thread reports, the others leave their news with it: it reports once more, with the newest. What comes late, of an attempt
/// that is over, is not reported.
final class ProgressReporter: Sendable {
    private struct State {
        var progress = TransferProgress()
        /// Which attempt is reported of.
        var attempt = 0
        var isTold = true
        var isTelling = false
    }

    private let state = Locked(State())
    private let tell: @Sendable (TransferProgress) -> Void

    init(_ tell: @escaping @Sendable (TransferProgress) -> Void) {
        self.tell = tell
    }

    /// An attempt begins; the one before is over.
    func begin() -> Attempt {
        let number = state.withLock { state in
            state.attempt += 1
            state.progress = TransferProgress()
            return state.attempt
        }
        return Attempt(reporter: self, number: number)
    }

    /// Nothing more is to be reported. A report that is being made goes on.
    private func end(_ number: Int) {
        state.withLock { state in
            guard state.attempt == number else { return }
            state.attempt += 1
            state.isTold = true
        }
    }

    struct Attempt: Sendable {
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

        /// The head is there.
        func expect(_ response: HTTPURLResponse) {
            let length = response.expectedContentLength
            let isEncoded =
                response.value(forHTTPHeaderField: "Content-Encoding").map { $0.lowercased() != "identity" } ?? false
            reporter.update(number) { $0.expectedToReceive = length >= 0 && !isEncoded ? length : nil }
        }

        func didReceive(_ count: Int) {
            reporter.update(number) { $0.received += Int64(count) }
        }

        func end() { reporter.end(number) }
    }

    private func update(_ number: Int, _ change: (inout TransferProgress) -> Void) {
        let mayTell = state.withLock { state in
            guard state.attempt == number else { return false }
            change(&state.progress)
            state.isTold = false
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard mayTell else { return }
        while let news = state.withLock({ state -> TransferProgress? in
            if state.isTold {
                state.isTelling = false
                return nil
            }
            state.isTold = true
            return state.progress
        }) {
            tell(news)
        }
    }
}
