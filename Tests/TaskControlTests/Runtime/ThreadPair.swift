import Foundation
import TaskControl

/// Two threads that begin two closures at the same moment, round after round.
///
/// The second thread is the pair's; the first is the caller's. Both spin at the start of a round, so that nothing lies between the closures
/// except the offset.
final class ThreadPair: Sendable {
    private struct State {
        var second: (@Sendable () -> Void)?
        var isWaiting = false
    }

    private let state = Locked(State())
    private let begins = DispatchSemaphore(value: 0)
    private let ends = DispatchSemaphore(value: 0)

    init() {
        Thread.detachNewThread { [self] in
            while true {
                begins.wait()
                guard let second = state.withLock({ $0.second.take() }) else { return }
                state.withLock { $0.isWaiting = true }
                while state.withLock(\.isWaiting) {}
                second()
                ends.signal()
            }
        }
    }

    /// Ends the second thread.
    func end() { begins.signal() }

    /// Returns when both closures have returned.
    ///
    /// - Parameter offset: By how many turns of an empty loop the first begins later; negative: the second.
    func run(offset: Int, _ first: () -> Void, _ second: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.second = {
                Self.spin(-offset)
                second()
            }
        }
        begins.signal()
        while !state.withLock({ $0.isWaiting }) {}
        state.withLock { $0.isWaiting = false }
        Self.spin(offset)
        first()
        ends.wait()
    }

    @inline(never)
    private static func spin(_ count: Int) {
        var random = UInt64(truncatingIfNeeded: count) | 1
        for _ in 0..<max(0, count) { random = random &* 6_364_136_223_846_793_005 &+ 1 }
        withExtendedLifetime(random) {}
    }
}
