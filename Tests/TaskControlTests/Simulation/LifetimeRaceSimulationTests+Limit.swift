import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// Stores with a limit, `onEnd:`, and saves that wait for a pause.
extension LifetimeRaceSimulationTests {
    /// An owner with a row per upload.
    private actor Rows {
        var ends: [Int: [String]] = [:]
        var delivered: Set<Int> = []

        func note(_ row: Int, _ end: String) { ends[row, default: []].append(end) }
        func deliver(_ row: Int) { delivered.insert(row) }
    }

    /// At most as many run as the limit permits, one after the other in the order of the calls if it is one, and a task that
    /// was cancelled before it began never does.
    @Test(arguments: [1, 2])
    func tasksBehindALimit(limit: Int) async throws {
        try await race { sim in
            let (store, running, begun) = (TaskStore<Int>(maxConcurrentTasks: limit), Locked(0), OrderRecorder<Int>())
            let cancelled = Locked<Int?>(nil)
            for key in 0..<5 {
                store.addTask(forKey: key) {
                    let count = running.withLock { running in
                        running += 1
                        return running
                    }
                    sim.expect(count <= limit, "\(limit) run at most")
                    begun.record(key)
                    try? await Task.sleep(for: .milliseconds(1 + key % 2))
                    running.withLock { $0 -= 1 }
                }
            }
            sim.atAnyPoint {
                // A task that waits, if there is one.
                guard let key = (1..<5).first(where: { store.taskIsWaiting(forKey: $0) }) else { return }
                store.cancelTask(forKey: key)
                cancelled.withLock { $0 = key }
            }
            try await store.drain()
            let expected = (0..<5).filter { $0 != cancelled.withLock { $0 } }
            sim.expect(Set(begun.events) == Set(expected) && begun.count == expected.count, "\(begun.events) ran")
            if limit == 1 { sim.expect(begun.events == expected, "\(begun.events) began") }
        }
    }

    /// Each task ends exactly once, and its end says whether its value was delivered.
    @Test func theEndOfEachTaskIsReportedOnce() async throws {
        try await race { sim in
            let (store, rows, returned) = (TaskStore<Int>(maxConcurrentTasks: 1), Rows(), OrderRecorder<Int>())
            var tasks: [Task<DeliveryOutcome, Never>] = []
            for row in 0..<3 {
                tasks.append(
                    store.run(forKey: row, for: rows) {
                        try await Task.sleep(for: .milliseconds(1))
                        returned.record(row)
                        return row
                    } deliver: { rows, row in
                        rows.deliver(row)
                    } onEnd: { rows, outcome in
                        switch outcome {
                        case .delivered: rows.note(row, "delivered")
                        case .undelivered(let cause): rows.note(row, "returned, \(cause)")
                        case .cancelled(let cause): rows.note(row, "\(cause)")
                        case .failed, .ownerReleased, .duplicate: rows.note(row, "other")
                        }
                    }
                )
            }
            sim.atAnyPoint { store.cancelAll(because: "test") }
            try await store.drain()
            let (ends, delivered) = await (rows.ends, rows.delivered)
            for row in 0..<3 {
                let undelivered = returned.events.contains(row) ? "returned, requested: test" : "requested: test"
                let expected = delivered.contains(row) ? "delivered" : undelivered
                sim.expect(ends[row] == [expected], "\(row) ends with \(ends[row] ?? []), and not \(expected)")
            }
            for task in tasks { _ = await task.value }
        }
    }

    /// No save is interrupted, none overlaps another, and the last text is saved last.
    @Test func savesThatWaitForAPause() async throws {
        try await race { sim in
            let store = TaskStore<Int>()
            let (isSaving, saved) = (Locked(false), OrderRecorder<Int>())
            let pause = TaskStoreDuplicateKeyBehavior.debounce(for: .milliseconds(2), then: .keepLatest)
            for text in 0..<4 {
                store.addTask(forKey: 1, duplicateKeyBehavior: pause) {
                    sim.expect(!isSaving.withLock { exchange(&$0, true) }, "a save does not overlap another one")
                    try? await Task.sleep(for: .milliseconds(3))
                    sim.expect(!Task.isCancelled, "a save is not interrupted")
                    isSaving.withLock { $0 = false }
                    saved.record(text)
                }
                try await Task.sleep(for: .milliseconds(text % 2 == 0 ? 1 : 3))
            }
            try await store.drain()
            sim.expect(saved.events.last == 3, "the last text is saved")
            sim.expect(saved.events == saved.events.sorted(), "\(saved.events) were saved")
        }
    }
}

private func exchange(_ value: inout Bool, _ new: Bool) -> Bool {
    defer { value = new }
    return value
}
