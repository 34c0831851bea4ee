import TaskControl
import TaskControlTesting
import TestSupport
import Testing

/// The races of queues, by name, under 10,000 schedules each.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Simulation.isSupported), .tags(.schedules))
struct QueueRaceSimulationTests {
    /// A cancellation and a turn: whichever comes first, the body runs or the task is dropped, and the turn is passed on.
    @Test func cancelAndTurn() async throws {
        try await race { sim in
            let (queue, log) = (FIFOQueue(), OrderRecorder<Int>())
            Task(on: queue) { for _ in 0..<3 { await Task.yield() } }
            let task = Task(on: queue) { () throws in
                await Task.yield()
                log.record(1)
            }
            let last = Task(on: queue) { log.record(2) }
            sim.cancelAtAnyPoint(task)
            switch await task.result {
            case .success: sim.expect(log.events.first == 1)
            case .failure(let error): sim.expect(error is CancellationError && !log.events.contains(1))
            }
            await last.value
            sim.expect(log.events.last == 2)
            try await queue.drain()
        }
    }

    /// The same for a caller that takes a turn in its own task.
    @Test func cancelAndRun() async throws {
        try await race { sim in
            let (queue, log) = (FIFOQueue(), OrderRecorder<Int>())
            let runs = (0..<3).map { number in
                Task {
                    try await queue.run {
                        log.record(number)
                        await Task.yield()
                        log.record(number)
                    }
                }
            }
            sim.cancelAtAnyPoint(runs[0])
            sim.cancelAtAnyPoint(runs[1])
            for (number, run) in runs.enumerated() {
                let count: Int
                switch await run.result {
                case .success: count = 2
                case .failure: count = 0
                }
                sim.expect(log.events.filter { $0 == number }.count == count, "it runs whole, or not at all")
            }
            sim.expect(log.events.count(where: { $0 == 2 }) == 2)
            let events = log.events
            sim.expect(
                stride(from: 0, to: events.count, by: 2).allSatisfy { events[$0] == events[$0 + 1] },
                "one at a time"
            )
            try await queue.drain()
        }
    }

    /// A turn that ends while others come: no task sleeps through its turn.
    @Test func finishAndEnqueue() async throws {
        try await race { sim in
            let (queue, log) = (FIFOQueue(), OrderRecorder<Int>())
            await withTaskGroup { group in
                for sender in 0..<3 {
                    group.addTask {
                        for number in 0..<2 {
                            await Task(on: queue) { log.record(sender * 10 + number) }.value
                        }
                    }
                }
            }
            sim.expect(log.count == 6)
            for sender in 0..<3 {
                sim.expect(log.events.filter { $0 / 10 == sender } == [sender * 10, sender * 10 + 1])
            }
            try await queue.drain()
            sim.expect(queue.isIdle)
        }
    }

    @Test func drainAndEnqueue() async throws {
        try await race { sim in
            let (queue, sent, ended) = (FIFOQueue(), OrderRecorder<Int>(), OrderRecorder<Int>())
            let senders = (0..<2).map { sender in
                Task {
                    for number in 0..<3 {
                        sent.record(sender * 10 + number)
                        Task(on: queue) {
                            await Task.yield()
                            ended.record(sender * 10 + number)
                        }
                        await Task.yield()
                    }
                }
            }
            await Task.yield()
            let before = sent.events
            try await queue.drain()
            sim.expect(Set(ended.events).isSuperset(of: before), "what was sent before has ended")
            for sender in senders { await sender.value }
            try await queue.drain()
            sim.expect(ended.count == 6 && queue.isIdle)
        }
    }

    /// A task that is sent before the call is cancelled, and if it may throw and has not begun, it never does; a task that is sent after the call
    /// is not affected.
    @Test func cancelTasksAndEnqueue() async throws {
        try await race { sim in
            let line = FIFOQueue()
            let queue = CancellableQueue(underlyingQueue: line)
            let (cancelled, log) = (OrderRecorder<Bool>(), OrderRecorder<Int>())
            sim.atAnyPoint {
                cancelled.record(true)
                queue.cancelTasks()
            }
            var tasks: [(isEarly: Bool, task: Task<Void, any Error>)] = []
            for number in 0..<4 {
                let isEarly = cancelled.count == 0
                tasks.append(
                    (
                        isEarly,
                        Task(on: queue) { () throws in
                            sim.expect(!isEarly || cancelled.count == 0, "nothing begins that was sent before the call")
                            log.record(number)
                            await Task.yield()
                        }
                    )
                )
                await Task.yield()
            }
            for (number, (isEarly, task)) in tasks.enumerated() {
                let result = await task.result
                let hasRun = log.events.contains(number)
                if case .success = result { sim.expect(hasRun) } else { sim.expect(isEarly && !hasRun) }
            }
            try await line.drain()
            sim.expect(queue.count == 0)
        }
    }

    /// A task that leaves while it is being raised, and the next one's turn.
    @Test func raiseAndLeave() async throws {
        try await race { sim in
            let queue = FIFOQueue()
            let low = (0..<3).map { _ in Task(priority: .background) { try await queue.run { await Task.yield() } } }
            for task in low { sim.cancelAtAnyPoint(task) }
            await Task.yield()
            let high = Task(priority: .high, on: queue) { await Task.yield() }
            await Task(priority: .high) { try? await queue.run {} }.value
            await high.value
            for task in low { _ = await task.result }
            try await queue.drain()
            sim.expect(queue.isIdle)
        }
    }

    /// The order on an actor, with one in front that is dropped before it has come.
    @Test func cancelAndBeginOnAnActor() async throws {
        try await race { sim in
            let (place, queue, log) = (Place(), ActorQueue<Place>(), OrderRecorder<Int>())
            queue.adoptExecutionContext(of: place)
            let dropped = Task(on: queue) { _ throws in log.record(0) }
            sim.cancelAtAnyPoint(dropped)
            let others = (1..<5).map { number in
                Task(on: queue) { _ in
                    log.record(number)
                    await Task.yield()
                }
            }
            for task in others { await task.value }
            _ = await dropped.result
            sim.expect(log.events.filter { $0 > 0 } == [1, 2, 3, 4])
            sim.expect(log.events == log.events.sorted())
        }
    }

    /// Those that had to wait are resumed elsewhere, and must be back on their actor before they begin: on the way others would overtake.
    @Test func beginningOnAnActorAfterAWait() async throws {
        try await race { sim in
            let (place, queue, log) = (Place(), ActorQueue<Place>(), OrderRecorder<Int>())
            queue.adoptExecutionContext(of: place)
            let tasks = (0..<5).map { number in
                Task(priority: number % 2 == 0 ? .background : .high, on: queue) { _ in
                    log.record(2 * number)
                    log.record(2 * number + 1)
                    await Task.yield()
                }
            }
            for task in tasks { await task.value }
            sim.expect(log.events == Array(0..<10))
        }
    }

    @Test func beginningOnTheMainActorAfterAWait() async throws {
        try await race { sim in
            let (queue, log) = (ActorQueue<MainActor>(), OrderRecorder<Int>())
            queue.adoptExecutionContext(of: MainActor.shared)
            let tasks = (0..<5).map { number in
                Task(on: queue) {
                    log.record(2 * number)
                    log.record(2 * number + 1)
                    await Task.yield()
                }
            }
            for task in tasks { await task.value }
            sim.expect(log.events == Array(0..<10))
        }
    }

    private actor Place {}
}
