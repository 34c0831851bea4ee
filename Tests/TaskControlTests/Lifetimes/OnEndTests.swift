import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// `onEnd:` of `run(for:)`: the owner learns how each task has ended.
@Suite(.timeLimit(.minutes(15)))
struct OnEndTests {
    @MainActor final class Rows {
        let uploads: TaskStore<Int>
        var states: [Int: String] = [:]
        var log: [String] = []

        init(limit: Int? = nil) {
            uploads = TaskStore(name: "uploads", maxConcurrentTasks: limit)
        }

        @discardableResult
        func upload(
            _ row: Int,
            _ behavior: TaskStoreDuplicateKeyBehavior = .cancelPrevious(wait: false),
            work: @escaping @Sendable () async throws -> Int
        ) -> Task<DeliveryOutcome, Never> {
            uploads.run(forKey: row, duplicateKeyBehavior: behavior, for: self) {
                try await work()
            } deliver: { rows, value in
                rows.log.append("delivers \(value)")
            } onError: { rows, error in
                rows.log.append("receives \(error)")
            } onEnd: { rows, outcome in
                MainActor.assertIsolated()
                rows.log.append("ends")
                rows.states[row] = outcome.description
            }
        }
    }

    actor Cache {
        var ends: [String] = []
        let lifetime = AsyncLifetime(name: "cache")

        nonisolated func fill(_ work: @escaping @Sendable () async throws -> Int) -> Task<DeliveryOutcome, Never> {
            lifetime.run(for: self) {
                try await work()
            } deliver: { cache, _ in
                cache.ends.append("delivers")
            } onEnd: { cache, outcome in
                cache.assertIsolated()
                cache.ends.append(outcome.description)
            }
        }
    }

    private let failure = MarkedError("on end")

    @MainActor @Test func eachOutcomeReachesTheOwnerAfterTheValueOrTheError() async {
        let rows = Rows()
        #expect(await rows.upload(1) { 7 }.value.description == "delivered")
        _ = await rows.upload(2) { [failure] in throw failure }.value
        #expect(rows.log == ["delivers 7", "ends", "receives \(failure)", "ends"])
        #expect(rows.states == [1: "delivered", 2: "failed \(failure)"])
    }

    @MainActor @Test func aCancelledTaskSaysWhy() async throws {
        let (rows, begun) = (Rows(), Gate())
        let work: @Sendable () async throws -> Int = {
            begun.open()
            try await Gate().wait()
            return 1
        }
        let replaced = rows.upload(1, work: work)
        try await begun.wait()
        let requested = rows.upload(1, work: work)
        #expect(await replaced.value.description == "cancelled superseded: 1")
        #expect(rows.states[1] == "cancelled superseded: 1")
        rows.uploads.cancelAll(because: "test")
        _ = await requested.value
        #expect(rows.states[1] == "cancelled requested: test")
        let byHandle = rows.upload(2, work: work)
        byHandle.cancel()
        _ = await byHandle.value
        #expect(rows.states[2] == "cancelled unknown")
    }

    /// An upload that has reached the server is not reported as cancelled: the row would be sent again.
    @MainActor @Test func workThatHasReturnedBeforeItsTaskWasCancelledIsUndelivered() async throws {
        let (rows, cache, returns) = (Rows(), Cache(), Gate())
        let work: @Sendable () async throws -> Int = {
            await returns.waitIgnoringCancellation()
            return 1
        }
        let (ofRow, ofCache) = (rows.upload(1, work: work), cache.fill(work))
        try await returns.waitForWaiters(count: 2)
        rows.uploads.cancelAll(because: "test")
        cache.lifetime.cancelAll(because: "test")
        returns.open()
        #expect(await ofRow.value.description == "undelivered requested: test")
        #expect(rows.states[1] == "undelivered requested: test" && rows.log == ["ends"])
        #expect(await ofCache.value.description == "undelivered requested: test")
        #expect(await cache.ends == ["undelivered requested: test"])
    }

    /// Rows that wait for a place end too: no upload of theirs has begun.
    @MainActor @Test func aTaskThatIsCancelledBeforeItBeganEndsToo() async throws {
        let (rows, gate) = (Rows(limit: 1), Gate())
        let running = rows.upload(0) {
            await gate.waitIgnoringCancellation()
            return 0
        }
        let waiting = [rows.upload(1) { 1 }, rows.upload(2) { 2 }, rows.upload(3) { 3 }]
        rows.uploads.cancelTask(forKey: 1)
        rows.upload(2, .keepLatest) { 22 }
        waiting[2].cancel()
        for task in waiting { _ = await task.value }
        #expect(rows.states == [1: "cancelled requested", 2: "cancelled superseded: 2", 3: "cancelled unknown"])
        #expect(rows.log == ["ends", "ends", "ends"])
        gate.open()
        _ = await running.value
        try await rows.uploads.drain()
        #expect(rows.states[0] == "delivered" && rows.states[2] == "delivered")
    }

    /// Not even the handle of the task exists when it is cancelled.
    @MainActor @Test func aTaskThatItsCreatorCancelsAtOnceEnds() async throws {
        let (rows, lifetime) = (Rows(), AsyncLifetime())
        for row in 0..<100 {
            rows.upload(row) { row }
            rows.uploads.cancelTask(forKey: row)
        }
        let task = lifetime.run(for: rows) {
            1
        } deliver: { _, _ in
        } onEnd: { rows, outcome in
            rows.states[-1] = outcome.description
        }
        lifetime.cancelAll(because: "at once")
        _ = await task.value
        try await rows.uploads.drain()
        #expect(rows.states[-1] == "cancelled requested: at once")
        #expect(rows.states.count == 101 && (0..<100).allSatisfy { rows.states[$0] == "cancelled requested" })
    }

    @MainActor @Test func aClosedOwnerThatRefusesTheWorkSaysSo() async {
        let (rows, slot, lifetime) = (Rows(), TaskSlot(name: "slot"), AsyncLifetime(name: "lifetime"))
        rows.uploads.close()
        slot.close()
        lifetime.close()
        let refused = rows.upload(1) { 1 }
        let ofSlot = slot.run(for: rows) {
            1
        } deliver: { _, _ in
        } onEnd: { rows, outcome in
            rows.states[2] = outcome.description
        }
        let ofLifetime = lifetime.run(for: rows) {
            1
        } deliver: { _, _ in
        } onEnd: { rows, outcome in
            rows.states[3] = outcome.description
        }
        for task in [refused, ofSlot, ofLifetime] {
            _ = await task.value
            #expect(task.isCancelled)
        }
        #expect(
            rows.states == [
                1: "cancelled shutdown: uploads", 2: "cancelled shutdown: slot", 3: "cancelled shutdown: lifetime",
            ]
        )
    }

    @Test func anActorIsNotifiedOnItself() async throws {
        let (cache, begun, incidents) = (Cache(), Gate(), Incidents.shared)
        _ = await cache.fill { 1 }.value
        let unheard = MarkedError("on end of an actor")
        _ = await cache.fill { throw unheard }.value
        let cancelled = cache.fill {
            begun.open()
            try await Gate().wait()
            return 2
        }
        try await begun.wait()
        cache.lifetime.cancelAll()
        _ = await cancelled.value
        #expect(await cache.ends == ["delivers", "delivered", "failed \(unheard)", "cancelled requested"])
        #expect(incidents.unhandled(unheard).isEmpty, "an error that the owner receives is not reported")
    }

    /// The end does not keep the owner, and an error that concerns only the owner is not reported.
    @MainActor @Test func theOwnerIsReleasedWhileTheWorkWaitsAndIsNotNotified() async throws {
        let (lifetime, gone, begun, gate) = (AsyncLifetime(), Gate(), Gate(), Gate())
        let incidents = Incidents.shared
        let unheard = MarkedError("on end without an owner")
        var probe: DeinitProbe? = DeinitProbe(gone)
        let task = lifetime.run(for: probe!) { () async throws -> Int in
            begun.open()
            await gate.waitIgnoringCancellation()
            throw unheard
        } deliver: { _, _ in
        } onEnd: { _, _ in
            Issue.record("the owner is gone")
        }
        try await begun.wait()
        probe = nil
        #expect(gone.isOpen)
        gate.open()
        #expect(await task.value.description == "failed \(unheard)")
        #expect(incidents.unhandled(unheard).isEmpty)
    }

    /// The task is in the store while its end is reported: `drain` waits for it, and so does the next task in line.
    @MainActor @Test func theTaskLeavesTheStoreAfterItsEndWasReported() async throws {
        let (store, gate, entered, log) = (
            TaskStore<Int>(maxConcurrentTasks: 1), Gate(), Gate(), OrderRecorder<String>()
        )
        let rows = Rows()
        store.run(forKey: 1, for: rows) {
            1
        } deliver: { _, _ in
        } onEnd: { _, _ in
            #expect(store.taskIsRunning(forKey: 1) && store.count == 2)
            entered.open()
            await gate.waitIgnoringCancellation()
            log.record("end")
        }
        store.addTask(forKey: 2) { log.record("next") }
        try await entered.wait()
        #expect(store.taskIsWaiting(forKey: 2))
        gate.open()
        try await store.drain()
        #expect(log.events == ["end", "next"])
    }

    /// A call that creates no task has no end of its own.
    @MainActor @Test func aCallForWhichAPresentTaskStandsIsNotNotified() async throws {
        let (rows, gate) = (Rows(), Gate())
        let first = rows.upload(1, .preferPrevious) {
            await gate.waitIgnoringCancellation()
            return 1
        }
        let second = rows.upload(1, .preferPrevious) { 2 }
        #expect(first == second)
        gate.open()
        _ = await second.value
        #expect(rows.log == ["delivers 1", "ends"])
    }

    // MARK: forEach

    @MainActor @Test func eachEndOfAnIterationReachesTheOwnerOnceAfterTheElementsAndTheError() async throws {
        let (rows, lifetime, failure) = (Rows(), AsyncLifetime(name: "rows"), failure)
        @discardableResult
        func follow(
            _ stream: AsyncThrowingStream<Int, any Error>,
            onError: (@MainActor @Sendable (Rows, any Error) async -> Void)? = nil
        ) -> Task<DeliveryOutcome, Never> {
            lifetime.forEach(stream, for: rows) { rows, element in
                rows.log.append("\(element)")
            } onError: { rows, error in
                if let onError { await onError(rows, error) } else { rows.log.append("receives \(error)") }
            } onEnd: { rows, outcome in
                MainActor.assertIsolated()
                rows.log.append(outcome.description)
            }
        }
        func stream(_ count: Int, then error: (any Error)?) -> AsyncThrowingStream<Int, any Error> {
            AsyncThrowingStream { continuation in
                for element in 0..<count { continuation.yield(element) }
                continuation.finish(throwing: error)
            }
        }
        _ = await follow(stream(2, then: nil)).value
        #expect(rows.log == ["0", "1", "delivered"])
        rows.log = []
        _ = await follow(stream(1, then: failure)).value
        #expect(rows.log == ["0", "receives \(failure)", "failed \(failure)"])
        rows.log = []
        let endless = AsyncThrowingStream<Int, any Error>.makeStream()
        let iteration = follow(endless.stream)
        lifetime.cancelAll(because: "test")
        _ = await iteration.value
        #expect(rows.log == ["cancelled requested: test"])
        rows.log = []
        lifetime.close()
        _ = await follow(stream(1, then: nil)).value
        #expect(rows.log == ["cancelled shutdown: rows"])
    }

    @Test func anIterationOfAnActorEndsOnItAndReceivesAnErrorThatNoOtherClosureReceives() async {
        let (cache, failure) = (Cache(), failure)
        let failing = AsyncThrowingStream<Int, any Error> { $0.finish(throwing: failure) }
        let outcome = await cache.lifetime.forEach(failing, for: cache) { cache, _ in
            cache.ends.append("element")
        } onEnd: { cache, outcome in
            cache.assertIsolated()
            cache.ends.append(outcome.description)
        }.value
        #expect(outcome.description == "failed \(failure)")
        #expect(await cache.ends == ["failed \(failure)"] && Incidents.shared.unhandled(failure).isEmpty)
    }
}

extension DeliveryOutcome {
    fileprivate var description: String {
        switch self {
        case .delivered: "delivered"
        case .failed(let error): "failed \(error)"
        case .cancelled(let cause): "cancelled \(cause)"
        case .undelivered(let cause): "undelivered \(cause)"
        case .ownerReleased: "owner released"
        case .duplicate: "duplicate"
        }
    }
}
