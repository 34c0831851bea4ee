import HeapCounter
import TaskControl

import class Foundation.ProcessInfo

/// Tells every event to an observer that counts it, if `scripts/benchmark --observed` asks for that: what listening costs.
func observeIfAsked() {
    if ProcessInfo.processInfo.environment["TASK_CONTROL_BENCHMARK_OBSERVED"] != nil {
        TaskDiagnostics.install(CountingObserver())
    }
}

private final class CountingObserver: TaskObserver, @unchecked Sendable {
    // Sendable: only ever touched by atomic operations.
    private let remaining = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    init() {
        remaining.initialize(to: .max)
    }

    deinit {
        remaining.deallocate()
    }

    func receive(_ event: TaskEvent) {
        _ = heap_counter_decrement(remaining)
    }
}
