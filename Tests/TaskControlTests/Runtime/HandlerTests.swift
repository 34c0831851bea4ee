import Foundation
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The effects of cancellation handlers on other tasks come soon, although not inside the handlers.
@Suite(.timeLimit(.minutes(15)))
struct HandlerTests {
    /// The place of a cancelled task is free while the task itself cannot run.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test(arguments: [false, true])
    func aCancelledTaskFreesItsPlaceWhileItsActorIsBusy(isDraining: Bool) async throws {
        let (queue, actor, gate) = (FIFOQueue(), HeldActor(), Gate())
        actor.executor.hold()
        let first = Task(on: queue) { await gate.waitIgnoringCancellation() }
        let busy = Task(on: queue, isolatedTo: actor) { (_: isolated HeldActor) async throws in }
        try await offThePool {
            actor.executor.blockUntilHeld()
            // It comes to wait.
            actor.executor.runHeld()
        }
        let next = isDraining ? nil : Task(on: queue) { 7 }
        let drain = Task { if isDraining { try await queue.drain() } }
        if isDraining { try await wait(forBooksOf: queue._turns.source.number) { 1 - queue._turns.drainerCount } }
        gate.open()
        await first.value
        // It has been called, and its actor is busy.
        try await offThePool { actor.executor.blockUntilHeld() }
        busy.cancel()
        if let next { #expect(await next.value == 7) }
        try await drain.value
        #expect(actor.executor.heldCount == 1, "the cancelled task has not run")
        actor.executor.release()
        await #expect(throws: CancellationError.self) { try await busy.value }
    }

    #if SUBPROCESSES
    /// Work that ends only when it is cancelled occupies every thread that the pool has for its priority.
    ///
    /// In a process of its own: other tests use the same threads, and one that occupies a thread while it waits for another test would never end.
    @Test(.oneProcessAtATime) func abandonedWorkIsCancelledWhileItKeepsThePoolBusy() async {
        await #expect(processExitsWith: .success) {
            let count = processorCount()
            let (flights, gate) = (SingleFlight<Int, Void>(), Gate())
            Thread.detachNewThread {
                let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                let callers = (0..<count).map { number in
                    Task.detached(priority: .high) {
                        try? await flights.value(for: number) {
                            begun.signal()
                            while !Task.isCancelled {}
                            ended.signal()
                        }
                    }
                }
                for _ in callers { begun.wait() }
                for caller in callers { caller.cancel() }
                for _ in callers { ended.wait() }
                gate.open()
            }
            try await gate.wait()
        }
    }
    #endif

    /// Cancels what is in flight whenever a job comes, and runs the job at once: the cancellation is between the entry of a flight and the
    /// handle of its task, and the task is faster than the handle.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private final class CancellingExecutor: SerialExecutor {
        let flights = SingleFlight<String, Int>()

        func enqueue(_ job: consuming ExecutorJob) {
            flights.cancelAll()
            UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    private actor Requester {
        nonisolated let executor = CancellingExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        var hasBegun = false

        func request() async throws -> Int {
            try await executor.flights.value(for: "key") {
                self.hasBegun = true
                return 1
            }
        }
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func aFlightThatWasCancelledBeforeItsTaskHadAHandleDoesNotBegin() async {
        let requester = Requester()
        await #expect(throws: CancellationCause.self) { try await requester.request() }
        #expect(await !requester.hasBegun)
    }

    /// A callback on another thread, while the handle is being cancelled: the caller is resumed when the handle has been released.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(arguments: [CancelledContinuationBehavior.throwImmediately, .waitForCallback])
    func theHandleIsReleasedBeforeTheCallerGoesOn(_ behavior: CancelledContinuationBehavior) async throws {
        let executor = HeldTaskExecutor()
        let caller = Task(executorPreference: executor) {
            try await withCancellableContinuation(of: Int.self, whenCancelled: behavior) { continuation in
                {
                    let hasCalledBack = DispatchSemaphore(value: 0)
                    Thread.detachNewThread {
                        continuation.resume(returning: 7)
                        hasCalledBack.signal()
                    }
                    hasCalledBack.wait()
                    #expect(executor.heldCount == 0, "the handle is still in use")
                }
            }
        }
        try await offThePool {
            executor.runHeld()
            caller.cancel()
            #expect(executor.heldCount == 1, "now the caller goes on")
            executor.runHeld()
        }
        switch behavior {
        case .throwImmediately: await #expect(throws: CancellationError.self) { try await caller.value }
        case .waitForCallback: #expect(try await caller.value == 7)
        }
    }

    /// Keeps the jobs of its tasks until they are asked for.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private final class HeldTaskExecutor: TaskExecutor {
        private let jobs = Locked<[UnownedJob]>([])

        var heldCount: Int { jobs.withLock { $0.count } }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
        }

        func runHeld() {
            while let job = jobs.withLock({ $0.popLast() }) { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

/// The number of processors that this process may use: the pool has as many threads for a priority. Foundation counts all that are there.
private func processorCount() -> Int {
    let all = ProcessInfo.processInfo.activeProcessorCount
    // On Linux, a set in hexadecimal digits, with a comma after every eighth one.
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") })
    else { return all }
    return min(
        all,
        line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
    )
}
