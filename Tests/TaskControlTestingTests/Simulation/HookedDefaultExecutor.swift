#if os(Linux)
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) import _Concurrency
import CTaskControlTesting
import TaskControl

@testable import TaskControlTesting

/// A default executor that passes jobs to the simulation of its thread, as the hooks do on a system whose `Task.yield()` calls them. The runtime
/// of this platform calls the default executor instead, which has no hook.
final class HookedDefaultExecutor: TaskExecutor, SchedulingExecutor {
    private let original: any TaskExecutor

    private var scheduling: any SchedulingExecutor { original as! any SchedulingExecutor }

    private init(_ original: any TaskExecutor) { self.original = original }

    private enum Factory: ExecutorFactory {
        static let mainExecutor: any MainExecutor = MainActor.executor
        static let defaultExecutor: any TaskExecutor = HookedDefaultExecutor(Task.defaultExecutor)
    }

    /// Replaces the default executor of the process, once.
    static let install: Void = {
        // Both are read before they are replaced.
        _ = (Factory.mainExecutor, Factory.defaultExecutor)
        _createExecutors(factory: Factory.self)
    }()

    private func isSimulated(_ job: UnownedJob, after delay: Duration?) -> Bool {
        let job = SimulatedJob(ExecutorJob(job), isOnMain: false)
        return SimulationEngine.current?.enqueueIfOwn(job, after: delay) ?? false
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !isSimulated(job, after: nil) { original.enqueue(ExecutorJob(job)) }
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C) {
        let job = UnownedJob(job)
        if let delay = delay as? Duration, isSimulated(job, after: delay) { return }
        scheduling.enqueue(ExecutorJob(job), after: delay, tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(_ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C) {
        let job = UnownedJob(job)
        if let delay = clock.now.duration(to: instant) as? Duration, isSimulated(job, after: delay) { return }
        scheduling.enqueue(ExecutorJob(job), at: instant, tolerance: tolerance, clock: clock)
    }
}
#endif
