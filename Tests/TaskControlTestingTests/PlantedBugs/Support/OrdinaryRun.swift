import Foundation

/// One run of a body on the real runtime, as an ordinary test runs it.
final class OrdinaryRun: Sendable {
    private let state = Guarded((hasFailed: false, hasEnded: false))
    private let ended = DispatchSemaphore(value: 0)

    /// Records a failure. A failure after the end of the body is ignored: an ordinary test has ended, too.
    func fail() {
        state.withLock { if !$0.hasEnded { $0.hasFailed = true } }
    }

    /// Runs the body many times, and waits for each run, but not longer than 100 ms.
    ///
    /// - Returns: The number of runs that failed, or did not end within 2 seconds. The tasks of these are abandoned.
    static func failures(of body: @escaping PlantedBug.Body, runs count: Int) -> Int {
        let runs = (0..<count)
            .map { _ in
                let run = OrdinaryRun()
                Task.detached { await run.play(body) }
                _ = run.ended.wait(timeout: .now() + .milliseconds(100))
                return run
            }
        if runs.contains(where: { !$0.state.withLock { $0.hasEnded } }) { Thread.sleep(forTimeInterval: 2) }
        return runs.count { $0.state.withLock { $0.hasFailed || !$0.hasEnded } }
    }

    private func play(_ body: PlantedBug.Body) async {
        do { try await body(PlantedBug.World(self)) } catch { fail() }
        state.withLock { $0.hasEnded = true }
        ended.signal()
    }
}
