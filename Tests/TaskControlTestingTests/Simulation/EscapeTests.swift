import Dispatch
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// What the simulation does not own: other threads, and tasks of the world outside.
@Suite(.timeLimit(.minutes(5)), .enabled(if: Simulation.isSupported))
struct EscapeTests {
    /// Counts the steps of a task that always has some.
    private final class Pulse: Sendable {
        private let beats = Locked(0)

        func beat() { beats.withLock { $0 += 1 } }

        /// Resumes a continuation on a thread of its own, and not before the step that calls this is over: one that is
        /// resumed before it has parked does not park at all.
        func resumeElsewhere(_ continuation: UnsafeContinuation<Void, Never>) {
            let before = beats.withLock { $0 }
            Thread.detachNewThread {
                while self.beats.withLock({ $0 }) == before { usleep(500) }
                continuation.resume()
            }
        }
    }

    /// - Parameter body: Brings about the escape. The rest of the program gives the other thread all the time it needs.
    private func expectEscape(
        of what: String,
        _ body: @escaping @Sendable (Simulation, Pulse) async throws -> Void
    ) async {
        let failure = try? await offThePool {
            TaskControlTestingTests.failure { sim in
                let pulse = Pulse()
                Task(name: "pulse") {
                    for _ in 0..<45_000 {
                        usleep(5_000)
                        pulse.beat()
                        await Task.yield()
                    }
                }
                try await body(sim, pulse)
            }
        }
        guard case .escaped(let found) = failure?.reason else {
            Issue.record("\(failure.map { "\($0)" } ?? "it passed")")
            return
        }
        #expect(found.contains(what))
    }

    @Test func aTaskThatAnotherThreadResumesIsAnEscape() async {
        await expectEscape(of: "#2 parked was resumed") { _, pulse in
            Task(name: "parked") { await withUnsafeContinuation { pulse.resumeElsewhere($0) } }
        }
    }

    @Test func soIsOneThatWasDetached() async {
        await expectEscape(of: "#2 parked was resumed") { _, pulse in
            Task.detached(name: "parked") { await withUnsafeContinuation { pulse.resumeElsewhere($0) } }
        }
    }

    @Test func soIsOneOnTheMainActor() async {
        await expectEscape(of: "#2 parked was resumed") { _, pulse in
            Task(name: "parked") { @MainActor in await withUnsafeContinuation { pulse.resumeElsewhere($0) } }
        }
    }

    private actor Place {
        func wait(_ pulse: Pulse) async { await withUnsafeContinuation { pulse.resumeElsewhere($0) } }
    }

    /// What comes is the actor's turn.
    @Test func soIsOneOnAnActor() async {
        await expectEscape(of: "was resumed") { _, pulse in
            let place = Place()
            Task(name: "parked") { await place.wait(pulse) }
        }
    }

    @Test func soIsTheBody() async {
        await expectEscape(of: "#0 body was resumed") { _, pulse in
            await withUnsafeContinuation { pulse.resumeElsewhere($0) }
        }
    }

    @Test func soIsOneThatAwaitsATaskFromOutside() async {
        let (gate, parking) = (Gate(), OrderRecorder<Int>())
        let outside = Task { await gate.waitIgnoringCancellation() }
        await expectEscape(of: "#2 waiting was resumed") { _, pulse in
            Task(name: "waiting") {
                parking.record(1)
                await outside.value
            }
            while parking.events.isEmpty { await Task.yield() }
            // It has parked, since its step is over.
            gate.open()
        }
    }

    @Test func usingTheSimulationOnAnotherThreadIsAnEscape() async {
        await expectEscape(of: "the Simulation was used") { sim, _ in
            Thread.detachNewThread { sim.note("from elsewhere") }
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private final class QueueExecutor: SerialExecutor {
        private let queue = DispatchQueue(label: "of somebody else")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @globalActor private actor Queued {
        static let shared = Queued()
        private let executor = QueueExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func work() {}
    }

    /// Whether or not anybody waits for it.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aTaskThatGoesToAnExecutorOfAnotherIsAnEscape() async {
        await expectEscape(of: "#2 goes went to the executor of an actor, QueueExecutor") { _, _ in
            Task(name: "goes") { await Queued.shared.work() }
        }
        await expectEscape(of: "#2 begins was made for an executor of its own, QueueExecutor") { _, _ in
            Task(name: "begins") { @Queued in }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class QueueTaskExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "of somebody else")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func soIsOneThatPrefersAnExecutorOfAnother() async {
        await expectEscape(of: "#2 begins was made for an executor of its own, QueueTaskExecutor") { _, _ in
            Task(name: "begins", executorPreference: QueueTaskExecutor()) {}
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Hasty {
        private let executor = HastyExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func work() {}
    }

    /// It is seen when it goes: afterwards there is nothing left to be seen.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func soIsOneThatIsBackBeforeItsStepIsOver() {
        let failure = failure { _ in await Hasty().work() }
        #expect(failure?.description.contains("#0 body went to the executor of an actor, HastyExecutor") == true)
        #expect(failure?.schedule.contains("#0 body went to HastyExecutor, outside the simulation") == true)
    }

    /// A task of the world outside that the body resumes goes on in the world outside.
    @Test func aTaskFromOutsideIsNotDrawnIn() async throws {
        let (gate, ranInside) = (Gate(), OrderRecorder<Bool>())
        let hasParked = Gate()
        let outside = Task {
            hasParked.open()
            await gate.waitIgnoringCancellation()
            ranInside.record(ContinuousClock.now.duration(to: .now) != .zero)
        }
        await hasParked.waitIgnoringCancellation()
        try simulate(seed: 1) { _ in
            gate.open()
            for _ in 0..<10 { await Task.yield() }
        }
        await outside.value
        // Real time had passed between the two looks at the clock: it does not, inside.
        #expect(ranInside.events == [true])
    }

    #if SUBPROCESSES
    @Test func aSimulationInsideASimulationIsRefused() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try simulate(seed: 1) { _ in try simulate(seed: 2) { _ in } }
        }
        #expect(text(result).contains("simulate was called inside a simulation"))
    }

    @Test func boundsThatMeanNothingAreRefused() async {
        let steps = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try simulate(seed: 1, maxSteps: 0) { _ in }
        }
        #expect(text(steps).contains("maxSteps bounds what one seed may take: at least 1, not 0"))
        let depth = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = SimulationStrategy.pct(depth: 0)
        }
        #expect(text(depth).contains("at least 1, not 0"))
    }
    #endif
}
