#if os(Linux)
import Foundation
import TaskControlTesting
import Testing

/// Signals that a program sends to itself arrive at the sources of Dispatch, within the simulation.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct SignalTests {
    private final class Held: Sendable {}

    private final class Weak: @unchecked Sendable {
        // Unchecked: used by one simulation.
        weak var held: Held?
    }

    private static func source(_ order: OrderRecorder<String>) -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: SIGUSR1)
        source.setEventHandler { order.record("signal") }
        source.setCancelHandler { order.record("cancelled") }
        return source
    }

    @Test func theHandlersRunInTheOrderOfDispatch() throws {
        try simulate(seeds: 0..<100) { sim in
            let order = OrderRecorder<String>()
            let source = Self.source(order)
            source.setRegistrationHandler { order.record("registered") }
            sim.expect(order.count == 0 && !source.isCancelled)
            source.activate()
            kill(getpid(), SIGUSR1)
            while order.count < 2 { await Task.yield() }
            raise(SIGUSR1)
            while order.count < 3 { await Task.yield() }
            source.cancel()
            source.cancel()
            sim.expect(source.isCancelled)
            while order.count < 4 { await Task.yield() }
            sim.expect(order.events == ["registered", "signal", "signal", "cancelled"], "\(order.events)")
        }
    }

    @Test func aSignalThatHasNotArrivedWhenItsSourceIsCancelledDoesNotArrive() throws {
        try simulate(seeds: 0..<100) { sim in
            let order = OrderRecorder<String>()
            let source = Self.source(order)
            source.resume()
            kill(getpid(), SIGUSR1)
            source.cancel()
            while order.count == 0 { await Task.yield() }
            sim.expect(order.events == ["cancelled"], "\(order.events)")
        }
    }

    @Test func eachSourceOfASignalReceivesIt() throws {
        let report = try simulate(seeds: 0..<100) { sim in
            let order = OrderRecorder<Int>()
            let sources = (0..<2).map { number in
                let source = DispatchSource.makeSignalSource(signal: SIGUSR2)
                source.setEventHandler { order.record(number) }
                source.activate()
                return source
            }
            async let other: Void = Task.yield()
            kill(getpid(), SIGUSR2)
            while order.count < 2 { await Task.yield() }
            await other
            sim.expect(Set(order.events) == [0, 1] && order.count == 2)
            sources.forEach { $0.cancel() }
        }
        #expect(report.distinctScheduleCount > 1)
    }

    @Test func handlersAreReleasedWhenTheyCanNotBeCalledAgain() throws {
        try simulate(seeds: 0..<20) { sim in
            let (registration, event, cancellation) = (Weak(), Weak(), Weak())
            let source = DispatchSource.makeSignalSource(signal: SIGUSR1)
            for (place, set) in [
                (registration, { source.setRegistrationHandler(handler: $0) }),
                (event, { source.setEventHandler(handler: $0) }),
                (cancellation, { source.setCancelHandler(handler: $0) }),
            ] as [(Weak, (@escaping @Sendable () -> Void) -> Void)] {
                let held = Held()
                place.held = held
                set { withExtendedLifetime(held) {} }
            }
            sim.expect(registration.held != nil && event.held != nil && cancellation.held != nil)
            source.activate()
            while registration.held != nil { await Task.yield() }
            sim.expect(event.held != nil && cancellation.held != nil)
            source.cancel()
            while event.held != nil || cancellation.held != nil { await Task.yield() }
        }
    }
}
#endif
