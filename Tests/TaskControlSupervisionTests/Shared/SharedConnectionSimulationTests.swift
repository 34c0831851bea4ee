import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct SharedConnectionSimulationTests {
    /// Users that come and go at random times, and are cancelled: at most one connection at a time, none without a user in
    /// the end, and no element out of order.
    @Test func usersThatComeAndGo() throws {
        try simulate(seeds: Schedules.seeds(10_000, inDebug: 200)) { sim in
            let (open, most) = (Locked(0), Locked(0))
            let connection = SharedConnection<Int, Int>("shared", limit: .unlimited) { last in
                open.withLock { $0 += 1 }
                most.withLock { $0 = max($0, open.withLock(\.self)) }
                return last ?? 0
            } elements: { first in
                let closing = Closing { open.withLock { $0 -= 1 } }
                return AsyncThrowingStream<Int, any Error> {
                    _ = closing
                    try await Task.sleep(for: .seconds(1))
                    return first + 1
                }
            }
            var random = sim.random
            let users = (0..<4).map { number in
                let (start, length) = (Int.random(in: 0...3, using: &random), Int.random(in: 0...3, using: &random))
                return Task {
                    try await Task.sleep(for: .seconds(start))
                    if number == 0 {
                        try await connection.withConnection { _ in try await Task.sleep(for: .seconds(length)) }
                        return
                    }
                    var last = 0
                    for try await element in connection.elements(bufferingPolicy: .unbounded).prefix(length) {
                        sim.expect(element >= last)
                        last = element
                    }
                }
            }
            sim.cancelAtAnyPoint(users[1])
            for user in users { _ = await user.result }
            for await state in connection.states { if case .stopped = state { break } }
            try? await connection.lifetime.drain()
            sim.expect(connection.userCount == 0 && open.withLock(\.self) == 0 && most.withLock(\.self) <= 1)
        }
    }
}

/// Calls a closure when it is released.
private final class Closing: Sendable {
    private let close: @Sendable () -> Void

    init(_ close: @escaping @Sendable () -> Void) { self.close = close }

    deinit { close() }
}
