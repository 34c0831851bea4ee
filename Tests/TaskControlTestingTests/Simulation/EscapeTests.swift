import Dispatch
import Foundation
import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// Threads and tasks outside the simulation, which it does not own.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Simulation.isSupported))
struct EscapeTests {
    private func expectEscape(
        of what: String,
        _ body: @escaping @isolated(any) @Sendable (Simulation) async throws -> Void
    ) {
        let failure = failure(body)
        guard case .escaped(let found) = failure?.reason else {
            Issue.record("\(failure.map { "\($0)" } ?? "it passed")")
            return
        }
        #expect(found.contains(what))
    }

    /// A task parks in a step of its own, and the thread resumes it in a later one, which waits for that.
    private func expectEscape(
        ofAResumed what: String,
        _ park: @escaping @Sendable (ThreadOutside) async throws -> Void
    ) {
        let thread = ThreadOutside()
        expectEscape(of: what) { _ in
            Task {
                while !thread.hasWork { await Task.yield() }
                thread.resume()
            }
            try await park(thread)
        }
    }

    @Test func aTaskThatAnotherThreadResumesIsAnEscape() {
        expectEscape(ofAResumed: "#2 parked was resumed") { thread in
            Task(name: "parked") { await thread.wait() }
        }
    }

    @Test func soIsOneThatWasDetached() {
        expectEscape(ofAResumed: "#2 parked was resumed") { thread in
            Task.detached(name: "parked") { await thread.wait() }
        }
    }

    @Test func soIsOneOnTheMainActor() {
        expectEscape(ofAResumed: "#2 parked was resumed") { thread in
            Task(name: "parked") { @MainActor in await thread.wait() }
        }
    }

    private actor Place {
        func wait(_ thread: ThreadOutside) async { await thread.wait() }
    }

    /// The escape is a turn of the actor.
    @Test func soIsOneOnAnActor() {
        expectEscape(ofAResumed: "was resumed") { thread in
            let place = Place()
            Task(name: "parked") { await place.wait(thread) }
        }
    }

    @Test func soIsTheBody() {
        expectEscape(ofAResumed: "#0 body was resumed") { thread in await thread.wait() }
    }

    /// Whether the task outside has ended by then is not the seed's decision; so the simulation waits for no answer.
    @Test func aTaskThatAwaitsOneFromOutsideIsAnEscape() {
        let gate = Gate()
        let outside = Task { await gate.waitIgnoringCancellation() }
        expectEscape(of: "#1 waiting waits for a task") { _ in
            Task(name: "waiting") { await outside.value }
        }
        gate.open()
    }

    @Test func usingTheSimulationOnAnotherThreadIsAnEscape() {
        let thread = ThreadOutside()
        expectEscape(of: "the Simulation was used") { sim in
            thread.run { sim.note("from elsewhere") }
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

    /// The escape is found whether or not a task waits for it.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aTaskThatGoesToAnExecutorOfAnotherIsAnEscape() {
        expectEscape(of: "#1 goes went to the executor of an actor, QueueExecutor") { _ in
            Task(name: "goes") { await Queued.shared.work() }
        }
        expectEscape(of: "#1 begins was made for an executor of its own, QueueExecutor") { _ in
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
    @Test func soIsOneThatPrefersAnExecutorOfAnother() {
        expectEscape(of: "#1 begins was made for an executor of its own, QueueTaskExecutor") { _ in
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
        #expect(failure?.description.contains("#0 body went to HastyExecutor, outside the simulation") == true)
    }

    /// A task outside the simulation that the body resumes continues outside.
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
    @Test(.oneProcessAtATime) func aSimulationInsideASimulationIsRefused() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try simulate(seed: 1) { _ in try simulate(seed: 2) { _ in } }
        }
        #expect(text(result).contains("simulate was called inside a simulation"))
    }

    @Test(.oneProcessAtATime) func boundsThatMeanNothingAreRefused() async {
        let steps = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try simulate(seed: 1, maxSteps: 0) { _ in }
        }
        #expect(text(steps).contains("maxSteps limits the steps of one schedule: at least 1, not 0"))
        let depth = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Simulation.Strategy.pct(depth: 0)
        }
        #expect(text(depth).contains("at least 1, not 0"))
    }
    #endif
}
