import Testing

@testable import TaskControl

@Suite(.timeLimit(.minutes(1)))
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
        let log = Log<Int>()
        let tasks = (0..<100).map { number in AsyncTask { log.append(number) } }
        for task in tasks { await task.value }
        #expect(log.values == Array(0..<100))
    }

    /// Each is enqueued on the actor at once, as `Task { }` is: had it to go there from elsewhere, others would overtake it.
    @MainActor @Test func tasksKeepTheirPlaceAmongBareTasks() async throws {
        let (log, bag, store, lifetime) = (Log<Int>(), TaskBag(), TaskStore<Int>(), AsyncLifetime())
        var last: Task<Void, Never>?
        for number in stride(from: 0, to: 2_000, by: 4) {
            AsyncTask { log.append(number) }.bind(to: lifetime)
            bag.addTask { log.append(number + 1) }
            store.addTask(forKey: number) { log.append(number + 2) }
            last = Task { log.append(number + 3) }
        }
        await last?.value
        #expect(log.values == Array(0..<2_000))
    }

    @Test func taskLocalsPriorityAndNameReachTheBody() async {
        let log = Log<String>()
        await Self.$request.withValue("42") {
            await AsyncTask(name: "reader", priority: .low) {
                log.append("\(Self.request) \(Diagnostics.currentTaskName ?? "-") \(Task.basePriority == .low)")
            }.value
        }
        #expect(log.values == ["42 reader true"])
    }

    @Test func priorityIsTheCallersIfNoneIsGiven() async {
        let log = Log<TaskPriority?>()
        await Task(priority: .low) {
            await AsyncTask { log.append(Task.basePriority) }.value
        }.value
        #expect(log.values == [.low])
    }

    @Test func theBodyMayCarryWhatIsNotSendable() async {
        final class Box { var value = 1 }
        func start(_ log: Log<Int>) -> AsyncTask {
            let box = Box()
            return AsyncTask { log.append(box.value) }
        }
        let log = Log<Int>()
        await start(log).value
        #expect(log.values == [1])
    }

    // MARK: What it lives for

    @Test func theEndOfItsLifetimeCancelsIt() async {
        let (started, ended) = (Gate(), Gate())
        var lifetime: AsyncLifetime? = AsyncLifetime()
        AsyncTask {
            started.open()
            await Gate().wait()
            if Task.isCancelled { ended.open() }
        }.bind(to: lifetime!)
        await started.wait()
        lifetime = nil
        await ended.wait()
    }

    @Test func bindingAgainMovesIt() async {
        let (first, second) = (AsyncLifetime(), AsyncLifetime())
        let task = AsyncTask { await Gate().wait() }.bind(to: first).bind(to: second)
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
        let task = AsyncTask { await Gate().wait() }.bind(to: lifetime)
        #expect(task.isCancelled && lifetime.isEmpty)
        await task.value
    }

    @Test func detachedRunsToItsEndWithNobodyHoldingIt() async {
        let (go, ended) = (Gate(), Gate())
        AsyncTask {
            await go.wait()
            if !Task.isCancelled { ended.open() }
        }.detached()
        go.open()
        await ended.wait()
    }

    @Test func detachedLeavesItsLifetime() async {
        let (lifetime, gate) = (AsyncLifetime(), Gate())
        let task = AsyncTask { await gate.wait() }.bind(to: lifetime).detached()
        lifetime.cancelAll()
        #expect(lifetime.isEmpty && !task.isCancelled)
        gate.open()
        await task.value
    }

    @Test func aSetThatItIsStoredInCancelsIt() async {
        var cancellables = Set<AnyCancellable>()
        let task = AsyncTask { await Gate().wait() }.store(in: &cancellables)
        #expect(cancellables.count == 1)
        cancellables.cancelAll()
        #expect(cancellables.isEmpty && task.isCancelled)
        await task.value
    }

    @Test func aTaskMayBeBoundAndStoredAndEitherCancelsIt() async {
        for isSetFirst in [true, false] {
            let lifetime = AsyncLifetime()
            var cancellables = Set<AnyCancellable>()
            let task = AsyncTask { await Gate().wait() }.bind(to: lifetime).store(in: &cancellables)
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
                await Gate().wait()
                _ = probe
            }.store(in: &cancellables)
        }
        await ended.wait()
    }

    @Test func whatIsDroppedWithoutAChoiceIsCancelledAndReported() async {
        let (incidents, ended) = (Incidents.shared, Gate())
        let before = incidents.drops
        await Task { @MainActor in
            // Its capture goes with it, whether it had begun or not.
            _ = AsyncTask { [probe = DeinitProbe(ended)] in
                await Gate().wait()
                _ = probe
            }
        }.value
        #expect(incidents.drops > before)
        await ended.wait()
    }

    @Test func whatWasTakenInHandIsNotReported() async {
        // In a process of its own, where nobody else drops anything.
        await #expect(processExitsWith: .success) {
            let (incidents, gate) = (Incidents.shared, Gate())
            var tasks = [AsyncTask { await gate.waitIgnoringCancellation() }, AsyncTask {}]
            tasks[0].cancel()
            await tasks[1].value
            tasks = []
            precondition(incidents.drops == 0)
            gate.open()
        }
    }

    // MARK: How it ends

    @Test func cancelledBeforeItStartsItDoesNotStart() async {
        let log = Log<Int>()
        await Task { @MainActor in
            // On the main actor nothing else begins until this suspends.
            let task = AsyncTask { log.append(1) }
            task.cancel()
            await task.value
        }.value
        #expect(log.values == [])
    }

    @Test func valueWaitsForTheEndAlsoWhenTheOneWhoWaitsIsCancelled() async {
        let (gate, log) = (Gate(), Log<String>())
        let task = AsyncTask {
            await gate.waitIgnoringCancellation()
            log.append("task")
        }
        let waiter = Task {
            await task.value
            log.append("waiter")
        }
        waiter.cancel()
        gate.open()
        await waiter.value
        #expect(log.values == ["task", "waiter"])
        #expect(!task.isCancelled)
    }

    @Test func anErrorReachesItsHandler() async {
        let log = Log<MarkedError?>()
        await AsyncTask {
            throw MarkedError()
        } onError: {
            log.append($0 as? MarkedError)
        }.value
        #expect(log.values == [MarkedError("anErrorReachesItsHandler()")])
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
        #expect(incidents.unhandled(error) == ["loader"])
    }

    @Test func theCancellationOfACancelledTaskIsSilent() async {
        let log = Log<Int>()
        let started = Gate()
        let task = AsyncTask {
            started.open()
            await Gate().wait()
            try Task.checkCancellation()
        } onError: { _ in
            log.append(1)
        }
        await started.wait()
        task.cancel()
        await task.value
        #expect(log.values == [])
    }

    @Test func aCancellationErrorOfATaskThatWasNotCancelledIsAnError() async {
        let log = Log<Bool>()
        await AsyncTask {
            throw CancellationError()
        } onError: {
            log.append($0 is CancellationError)
        }.value
        #expect(log.values == [true])
    }

    @Test func anotherErrorOfACancelledTaskReachesNoHandlerButObservers() async {
        let (incidents, log, started) = (Incidents.shared, Log<Int>(), Gate())
        let error = MarkedError()
        let task = AsyncTask {
            started.open()
            await Gate().wait()
            throw error
        } onError: { _ in
            log.append(1)
        }
        await started.wait()
        task.cancel()
        await task.value
        #expect(log.values == [] && incidents.afterCancellation(error) == 1)
    }
}
