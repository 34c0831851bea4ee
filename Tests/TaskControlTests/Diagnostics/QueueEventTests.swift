import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The events of queues and their turns.
@Suite(.timeLimit(.minutes(15)))
struct QueueEventTests {
    @Test func aTaskIsToldFromItsPlaceToItsEnd() async throws {
        try await EventLog.recording { recorder in
            let (queue, gate) = (FIFOQueue(name: "saves"), Gate())
            let first = Task(name: "one", on: queue) { try? await gate.wait() }
            let second = Task(name: "two", on: queue) { 7 }
            try await recorder.wait { $0.named("FIFOQueue.waiting").count == 1 }
            gate.open()
            _ = (await first.value, await second.value)
            let tasks = recorder.events.bySubject
            #expect(
                tasks.first?.lines == [
                    "FIFOQueue.enqueued name=saves task=one", "FIFOQueue.started name=saves task=one",
                    "FIFOQueue.completed name=saves task=one",
                ]
            )
            #expect(
                tasks.last?.lines == [
                    "FIFOQueue.enqueued name=saves task=two", "FIFOQueue.waiting name=saves task=two",
                    "FIFOQueue.started name=saves task=two", "FIFOQueue.completed name=saves task=two",
                ]
            )
            let owner = TaskEvent.Identity(queue._turns.source.number)
            #expect(tasks.joined().allSatisfy { $0.owner == owner } && recorder.events.unpaired == [])
            // One has ended before the other starts. Two threads deliver the two events, in any order.
            let kinds = recorder.events.sorted { $0.sequence < $1.sequence }.filter {
                $0.kind == .started || $0.kind == .completed
            }.map(\.taskName)
            #expect(kinds == ["one", "one", "two", "two"])
        }
    }

    @Test func theQueueTellsItsBeginningAndItsEnd() async {
        let events = await EventLog.events {
            let queue = FIFOQueue(name: "q")
            await Task(on: queue) {}.value
        }
        #expect(events.first?.description == "FIFOQueue.created name=q")
        // Its last task may hold it for a moment longer.
        #expect(events.filter { $0.subject == nil && $0.kind != .deallocated }.count == 1)
        let quiet = EventLog.events { _ = FIFOQueue() }
        #expect(quiet.lines == ["FIFOQueue.created", "FIFOQueue.deallocated"])
    }

    @Test func aTaskThatThrowsIsToldWithItsError() async {
        let queue = FIFOQueue()
        let events = await EventLog.events {
            _ = await Task(on: queue) { throw MarkedError("no") }.result
        }
        #expect(
            events.lines == [
                "FIFOQueue.enqueued", "FIFOQueue.started", #"FIFOQueue.failed error=MarkedError(mark: "no")"#,
            ]
        )
    }

    @Test func aTaskThatIsCancelledWhileItWaitsIsSkipped() async throws {
        try await EventLog.recording { recorder in
            let (queue, gate) = (FIFOQueue(), Gate())
            let first = Task(on: queue) { try? await gate.wait() }
            let second = Task(name: "two", on: queue) { () throws in Issue.record("never") }
            try await recorder.wait { $0.named("FIFOQueue.waiting").count == 1 }
            second.cancel()
            _ = await second.result
            gate.open()
            await first.value
            #expect(recorder.events.filter { $0.taskName == "two" }.map(\.kind) == [.enqueued, .waiting, .skipped])
            #expect(recorder.events.named("FIFOQueue.skipped").allSatisfy { $0.isCancelled })
            #expect(recorder.events.unpaired == [])
        }
    }

    @Test func aRunIsReportedAsATask() async throws {
        try await EventLog.recording { recorder in
            let (queue, gate) = (FIFOQueue(), Gate())
            let first = Task(on: queue) { try? await gate.wait() }
            let run = Task { try await queue.run { throw MarkedError("no") } }
            try await recorder.wait { $0.named("FIFOQueue.waiting").count == 1 }
            let other = Task { try await queue.run {} }
            try await recorder.wait { $0.named("FIFOQueue.waiting").count == 2 }
            other.cancel()
            _ = await other.result
            gate.open()
            _ = (await first.value, await run.result)
            let tasks = recorder.events.bySubject
            #expect(
                tasks[1].lines == [
                    "FIFOQueue.enqueued", "FIFOQueue.waiting", "FIFOQueue.started",
                    #"FIFOQueue.failed error=MarkedError(mark: "no")"#,
                ]
            )
            #expect(tasks[2].lines == ["FIFOQueue.enqueued", "FIFOQueue.waiting", "FIFOQueue.skipped cancelled=true"])
            #expect(recorder.events.unpaired == [])
            try await queue.run {}
            #expect(recorder.events.suffix(3).map(\.kind) == [.enqueued, .started, .completed])
        }
    }

    @Test func whoDrainsIsTold() async throws {
        try await EventLog.recording { recorder in
            let (queue, gate) = (FIFOQueue(), Gate())
            let first = Task(on: queue) { try? await gate.wait() }
            let drain = Task { try await queue.drain() }
            try await recorder.wait { $0.named("FIFOQueue.draining").count == 1 }
            let other = Task { try await queue.drain() }
            try await recorder.wait { $0.named("FIFOQueue.draining").count == 2 }
            other.cancel()
            _ = await other.result
            gate.open()
            _ = (await first.value, try await drain.value)
            #expect(recorder.events.named("FIFOQueue.left").count == 1)
            #expect(recorder.events.named("FIFOQueue.drained").count == 1 && recorder.events.unpaired == [])
        }
    }

    @MainActor @Test func anActorsQueueTellsTheSame() async {
        let queue = ActorQueue<MainActor>(name: "main")
        queue.adoptExecutionContext(of: MainActor.shared)
        let events = await EventLog.events { await Task(name: "one", on: queue) {}.value }
        #expect(
            events.lines == [
                "ActorQueue.enqueued name=main task=one", "ActorQueue.started name=main task=one",
                "ActorQueue.completed name=main task=one",
            ]
        )
    }

    @MainActor @Test func aGroupTellsWhatItCancelsByTheSubjectsOfItsQueue() async {
        let events = await EventLog.events {
            let queue = CancellableQueue(underlyingQueue: FIFOQueue())
            let task = Task(on: queue) { () throws in Issue.record("never") }
            queue.cancelTasks()
            _ = await task.result
        }
        let relevant = events.filter { $0.kind != .created && $0.kind != .deallocated }
        #expect(
            relevant.lines == [
                "FIFOQueue.enqueued", "CancellableQueue.cancelledAll count=1",
                "CancellableQueue.cancelled detail=requested",
                "FIFOQueue.skipped cancelled=true",
            ]
        )
        #expect(Set(relevant.compactMap(\.subject)).count == 1 && events.unpaired == [])
        #expect(events.named("CancellableQueue.created").count == 1)
        #expect(events.named("CancellableQueue.deallocated").count == 1)
    }
}
