import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(15)))
struct AsyncTaskTests {
    @TaskLocal static var request = "none"

    // MARK: What it inherits

    @MainActor @Test func theBodyRunsOnTheActorOfTheCodeThatCreatesIt() async {
        let task = AsyncTask { MainActor.assertIsolated() }
        await task.value
    }

    @Test func theBodyMayChangeTheStateOfTheActorThatCreatesIt() async {
        actor Counter {
            var count = 0
            func start() -> AsyncTask { AsyncTask { self.count += 1 } }
        }
        let counter = Counter()
        await counter.start().value
        #expect(await counter.count == 1)
    }

    @Test func aBodyWithAnActorOfItsOwnRunsThere() async {
        await AsyncTask { @MainActor in MainActor.assertIsolated() }.value
    }

    @MainActor @Test func tasksOfOneActorStartInTheOrderOfTheirCreation() async {
        let log = OrderRecorder<Int>()
        let tasks = (0..<100).map { number in AsyncTask { log.record(number) } }
        for task in tasks { await task.value }
        #expect(log.events == Array(0..<100))
    }

    /// Each is enqueued on the actor at once, as `Task { }` is: had it to go there from elsewhere, others would overtake it.
    @MainActor @Test func tasksKeepTheirPlaceAmongBareTasks() async throws {
        let (log, bag, store, lifetime) = (OrderRecorder<Int>(), TaskBag(), TaskStore<Int>(), AsyncLifetime())
        var last: Task<Void, Never>?
        for number in stride(from: 0, to: 2_000, by: 4) {
            AsyncTask { log.record(number) }.bind(to: lifetime)
            bag.addTask { log.record(number + 1) }
            store.addTask(forKey: number) { log.record(number + 2) }
            last = Task { log.record(number + 3) }
        }
        await last?.value
        #expect(log.events == Array(0..<2_000))
    }

    @Test func taskLocalsPriorityAndNameReachTheBody() async {
        let log = OrderRecorder<String>()
        await Self.$request.withValue("42") {
            await AsyncTask(name: "reader", priority: .low) {
                log.record("\(Self.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .low)")
            }.value
        }
        #expect(log.events == ["42 \(readable("reader") ?? "-") true"])
    }

    @Test func priorityIsTheCallersIfNoneIsGiven() async {
        let log = OrderRecorder<TaskPriority?>()
        await Task(priority: .low) {
            await AsyncTask { log.record(Task.basePriority) }.value
        }.value
        #expect(log.events == [.low])
    }

    @Test func theBodyMayCarryWhatIsNotSendable() async {
        final class Box { var value = 1 }
        func start(_ log: OrderRecorder<Int>) -> AsyncTask {
            let box = Box()
            return AsyncTask { log.record(box.value) }
        }
        let log = OrderRecorder<Int>()
        await start(log).value
        #expect(log.events == [1])
    }

    // MARK: What it lives for

    @Test func theEndOfItsLifetimeCancelsIt() async {
        let (started, ended) = (Gate(), Gate())
        var lifetime: AsyncLifetime? = AsyncLifetime()
        AsyncTask {
            started.open()
            try? await Gate().wait()
            if Task.isCancelled { ended.open() }
        }.bind(to: lifetime!)
        try? await started.wait()
        lifetime = nil
        try? await ended.wait()
    }

    @Test func bindingAgainMovesIt() async {
        let (first, second) = (AsyncLifetime(), AsyncLifetime())
        let task = AsyncTask { try? await Gate().wait() }.bind(to: first).bind(to: second)
        #expect(first.count == 0 && second.count == 1)
        first.cancelAll()
        #expect(!task.isCancelled)
        second.cancelAll()
        #expect(task.isCancelled)
        await task.value
    }

    @Test func aTaskThatIsCancelledThroughItsHandleNoLongerCounts() async throws {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let bound = AsyncTask { await gate.waitIgnoringCancellation() }.bind(to: lifetime)
        #expect(lifetime.count == 1)
        bound.cancel()
        let late = AsyncTask { await gate.waitIgnoringCancellation() }
        late.cancel()
        late.bind(to: lifetime)
        #expect(lifetime.count == 0 && bound.isCancelled && late.isCancelled)
        gate.open()
        try await lifetime.drain()
    }

    @Test func aTaskThatHasFinishedIsNotBound() async {
        let lifetime = AsyncLifetime()
        let task = AsyncTask {}
        await task.value
        task.bind(to: lifetime)
        #expect(lifetime.isEmpty)
    }

    @Test func aClosedLifetimeCancelsItAtOnce() async {
        let lifetime = AsyncLifetime()
        lifetime.close()
        let task = AsyncTask { try? await Gate().wait() }.bind(to: lifetime)
        #expect(task.isCancelled && lifetime.isEmpty)
        await task.value
    }

    @Test func detachedRunsToItsEndWithNobodyHoldingIt() async {
        let (go, ended) = (Gate(), Gate())
        AsyncTask {
            try? await go.wait()
            if !Task.isCancelled { ended.open() }
        }.detached()
        go.open()
        try? await ended.wait()
    }

    @Test func detachedLeavesItsLifetime() async {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let task = AsyncTask { try? await gate.wait() }.bind(to: lifetime).detached()
        lifetime.cancelAll()
        #expect(lifetime.isEmpty && !task.isCancelled)
        gate.open()
        await task.value
    }

    @Test func aSetThatItIsStoredInCancelsIt() async {
        var cancellables = Set<AnyCancellable>()
        let task = AsyncTask { try? await Gate().wait() }.store(in: &cancellables)
        #expect(cancellables.count == 1)
        cancellables.cancelAll()
        #expect(cancellables.isEmpty && task.isCancelled)
        await task.value
    }

    @Test func aTaskMayBeBoundAndStoredAndEitherCancelsIt() async {
        for isSetFirst in [true, false] {
            let lifetime = AsyncLifetime()
            var cancellables = Set<AnyCancellable>()
            let task = AsyncTask { try? await Gate().wait() }.bind(to: lifetime).store(in: &cancellables)
            #expect(lifetime.count == 1 && cancellables.count == 1)
            if isSetFirst { cancellables.cancelAll() } else { lifetime.cancelAll() }
            #expect(task.isCancelled)
            await task.value
        }
    }

    @Test func aSetThatIsLetGoOfCancelsIt() async {
        let ended = Gate()
        do {
            var cancellables = Set<AnyCancellable>()
            AsyncTask { [probe = DeinitProbe(ended)] in
                try? await Gate().wait()
                _ = probe
            }.store(in: &cancellables)
        }
        try? await ended.wait()
    }

    @Test func whatIsDroppedWithoutAChoiceIsCancelledAndReported() async {
        let ended = Gate()
        let reported = await Incidents.shared.reported {
            // Its capture goes with it, whether it had begun or not.
            _ = AsyncTask { [probe = DeinitProbe(ended)] in
                try? await Gate().wait()
                _ = probe
            }
        }
        #expect(reported.drops == 1)
        try? await ended.wait()
    }

    @Test func whatWasTakenInHandIsNotReported() async {
        let gate = Gate()
        var tasks = [AsyncTask { await gate.waitIgnoringCancellation() }, AsyncTask {}]
        tasks[0].cancel()
        await tasks[1].value
        let reported = await Incidents.shared.reported { tasks = [] }
        #expect(reported.drops == 0)
        gate.open()
    }

    // MARK: How it ends

    @Test func cancelledBeforeItStartsItDoesNotStart() async {
        let log = OrderRecorder<Int>()
        await Task { @MainActor in
            // On the main actor nothing else begins until this suspends.
            let task = AsyncTask { log.record(1) }
            task.cancel()
            await task.value
        }.value
        #expect(log.events == [])
    }

    @Test func valueWaitsForTheEndAlsoWhenTheOneWhoWaitsIsCancelled() async {
        let (gate, log) = (Gate(), OrderRecorder<String>())
        let task = AsyncTask {
            await gate.waitIgnoringCancellation()
            log.record("task")
        }
        let waiter = Task {
            await task.value
            log.record("waiter")
        }
        waiter.cancel()
        gate.open()
        await waiter.value
        #expect(log.events == ["task", "waiter"])
        #expect(!task.isCancelled)
    }

    @Test func anErrorReachesItsHandler() async {
        let log = OrderRecorder<MarkedError?>()
        await AsyncTask {
            throw MarkedError()
        } onError: {
            log.record($0 as? MarkedError)
        }.value
        #expect(log.events == [MarkedError("anErrorReachesItsHandler()")])
    }

    @MainActor @Test func theHandlerRunsOnTheActorOfTheCodeThatCreatesTheTask() async {
        var error: (any Error)?
        let task = AsyncTask {
            throw MarkedError()
        } onError: {
            MainActor.assertIsolated()
            error = $0
        }
        await task.value
        #expect(error is MarkedError)
    }

    @Test func anErrorWithoutAHandlerGoesToDiagnosticsWithTheTasksName() async {
        let incidents = Incidents.shared
        let error = MarkedError()
        await AsyncTask(name: "loader") { throw error }.value
        #expect(incidents.unhandled(error) == [readable("loader")])
    }

    @Test func theCancellationOfACancelledTaskIsSilent() async {
        let log = OrderRecorder<Int>()
        let started = Gate()
        let task = AsyncTask {
            started.open()
            try? await Gate().wait()
            try Task.checkCancellation()
        } onError: { _ in
            log.record(1)
        }
        try? await started.wait()
        task.cancel()
        await task.value
        #expect(log.events == [])
    }

    @Test func aCancellationErrorOfATaskThatWasNotCancelledIsAnError() async {
        let log = OrderRecorder<Bool>()
        await AsyncTask {
            throw CancellationError()
        } onError: {
            log.record($0 is CancellationError)
        }.value
        #expect(log.events == [true])
    }

    @Test func aCancellationErrorOfATaskThatWasNotCancelledGoesToDiagnosticsIfNobodyHandlesIt() async {
        let reported = await Incidents.shared.reported {
            await AsyncTask { throw CancellationError() }.value
        }
        #expect(reported.cancellationErrors == ["AsyncTask"])
    }

    @Test func anotherErrorOfACancelledTaskReachesNoHandlerButObservers() async {
        let (incidents, log, started) = (Incidents.shared, OrderRecorder<Int>(), Gate())
        let error = MarkedError()
        let task = AsyncTask {
            started.open()
            try? await Gate().wait()
            throw error
        } onError: { _ in
            log.record(1)
        }
        try? await started.wait()
        task.cancel()
        await task.value
        #expect(log.events == [] && incidents.afterCancellation(error) == 1)
    }
}
