/// Tells how far an exchange has come: one call after another, though it is told so from several threads.
///
/// While one thread is in the call, the others leave their news with it: it calls once more, with the newest.
final class ProgressReporter: Sendable {
    private struct State {
        var progress = TransferProgress()
        var isTold = true
        var isTelling = false
    }

    private let state = Locked(State())
    private let tell: @Sendable (TransferProgress) -> Void

    init(_ tell: @escaping @Sendable (TransferProgress) -> Void) {
        self.tell = tell
    }

    var didSend: @Sendable (Int64, Int64?) -> Void {
        { [self] sent, expected in
            update {
                $0.sent = sent
                $0.expectedToSend = expected
            }
        }
    }

    /// The head is there. What had been received of an attempt before counts no more.
    func expect(_ response: HTTPURLResponse) {
        let length = response.expectedContentLength
        let isEncoded =
            response.value(forHTTPHeaderField: "Content-Encoding").map { $0.lowercased() != "identity" } ?? false
        update {
            $0.received = 0
            $0.expectedToReceive = length >= 0 && !isEncoded ? length : nil
        }
    }

    func didReceive(_ count: Int) {
        update { $0.received += Int64(count) }
    }

    private func update(_ change: (inout TransferProgress) -> Void) {
        let mayTell = state.withLock { state in
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
