import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTrace

/// The model that is made of events.
@Suite(.timeLimit(.minutes(15)))
struct TraceModelTests {
    @Test func waitingIsToldFromRunning() {
        var recording = Recording()
        recording.turn(10, (5, 20, 50), named: "uploads", task: "one")
        let model = recording.model()
        #expect(model.bars.map(\.story) == ["waiting 15 running 30 completed"])
        #expect(model.groups.map(\.title) == ["FIFOQueue \"uploads\" #1"])
        #expect(model.bars[0].label == "one" && model.bars[0].begin == 0 && model.length == 45_000_000)
        #expect(!model.bars[0].beganEarlier && model.bars[0].first == .enqueued && model.bars[0].last == .completed)
    }

    @Test func retriesAreRunningAndWaitingInTurn() {
        var recording = Recording()
        recording.tell(.retry, .failed, .began(.running), at: 0, of: 1, error: "a")
        recording.tell(.retry, .waiting, .entered(.waiting), at: 0, of: 1)
        recording.tell(.retry, .retrying, .entered(.running), at: 10, of: 1)
        recording.tell(.retry, .failed, at: 13, of: 1, error: "b")
        recording.tell(.retry, .waiting, .entered(.waiting), at: 14, of: 1)
        recording.tell(.retry, .retrying, .entered(.running), at: 20, of: 1)
        recording.tell(.retry, .gaveUp, .ended(.failed), at: 21, of: 1, error: "c")
        let bar = recording.model().bars[0]
        #expect(bar.story == "waiting 10 running 4 waiting 6 running 1 failed" && bar.error == "c")
        #expect(bar.marks.map(\.text) == ["a", "b"])
    }

    @Test func worksThatBeginAgainInOneTaskAreNoCircle() {
        var recording = Recording()
        // A supervisor reports all its children in one task.
        let children: [UInt64] = [1, 2]
        for child in children {
            recording.tell(.fifoQueue, .started, .began(.waiting), at: 0, of: child, in: 9)
            recording.tell(.fifoQueue, .started, .entered(.running), at: 1, of: child, in: 9, from: 7)
        }
        for time in 1...3 {
            for child in children {
                recording.tell(.fifoQueue, .failed, .noted, at: time * 10, of: child, in: 9, error: "lost", from: 7)
                recording.tell(.fifoQueue, .waiting, .entered(.waiting), at: time * 10 + 1, of: child, in: 9, from: 7)
                recording.tell(.fifoQueue, .retrying, .entered(.running), at: time * 10 + 2, of: child, in: 9, from: 7)
            }
        }
        for child in children {
            recording.tell(.fifoQueue, .completed, .ended(.completed), at: 50, of: child, in: 9, from: 7)
        }
        recording.tell(.fifoQueue, .draining, at: 60, in: 9, from: 7)
        let model = recording.model()
        #expect(model.bars.map(\.outcome) == [.completed, .completed])
        #expect(model.bars.map(\.marks.count) == [3, 3])
    }

    @Test(
        arguments: [
            (.completed, false, .completed), (.failed, false, .failed), (.timedOut, false, .timedOut),
            (.cancelled, false, .cancelled), (.skipped, false, .cancelled), (.skipped, true, .cancelled),
            (.cancelled, true, .cancelled), (.failed, true, .cancelled), (.completed, true, .cancelled),
            (.timedOut, true, .timedOut),
        ] as [(TaskEvent.Outcome, Bool, TraceModel.Outcome)]
    )
    func theOutcomeOfABarIsThatOfTheEnd(end: TaskEvent.Outcome, isCancelled: Bool, outcome: TraceModel.Outcome) {
        // Regardless of the kind of the event.
        for kind in [.completed, .released, .drained, .succeeded, .gaveUp, .left, .failed] as [TaskEvent.Kind] {
            var recording = Recording()
            recording.tell(.withTimeout, .started, .began(.waiting), at: 0, of: 1)
            recording.tell(.withTimeout, kind, .ended(end), at: 1, of: 1, isCancelled: isCancelled)
            #expect(recording.model().bars.map(\.outcome) == [outcome])
        }
    }

    @Test func aTaskWhoseOwnerHandlesTheErrorOfItsWorkHasFailed() {
        var recording = Recording()
        recording.tell(.asyncLifetime, .added, .began(.waiting), at: 0, of: 1, in: 9)
        recording.tell(.asyncLifetime, .started, .entered(.running), at: 1, of: 1, in: 9)
        recording.tell(.asyncLifetime, .workFailed, at: 2, of: 1, in: 9, error: "lost")
        recording.tell(.asyncLifetime, .completed, .ended(.completed), at: 3, of: 1, in: 9)
        // An error of an attempt, and the call has succeeded.
        recording.tell(.retry, .failed, .began(.running), at: 4, of: 2, error: "lost")
        recording.tell(.retry, .succeeded, .ended(.completed), at: 5, of: 2)
        #expect(recording.model().bars.map(\.outcome) == [.failed, .completed])
    }

    @Test func whatOthersTellLateIsIgnoredButForTheLifetime() {
        var recording = Recording()
        recording.tell(.asyncTask, .created, .began(.waiting), at: 0, of: 5)
        recording.tell(.asyncTask, .started, .entered(.running), at: 1, of: 5)
        recording.tell(.asyncTask, .completed, .ended(.completed), at: 2, of: 5)
        recording.tell(.asyncTask, .cancelled, at: 3, of: 5)
        recording.tell(.asyncTask, .boundToLifetime, at: 4, of: 5, in: 9)
        let model = recording.model()
        #expect(model.bars.map(\.story) == ["waiting 1 running 1 completed"] && model.bars[0].marks.isEmpty)
        #expect(model.groups.map(\.title) == ["AsyncLifetime #9"])
    }

    @Test func ofASubjectThatOnlyOthersTellOfThereIsNoBar() {
        var recording = Recording()
        recording.tell(.singleFlight, .joined, at: 0, of: 5, in: 1)
        recording.tell(.asyncTask, .cancelled, at: 1, of: 6)
        #expect(recording.model().bars.isEmpty)
    }

    @Test func othersMayTellOfItBeforeItself() {
        var recording = Recording()
        recording.tell(.cancellableQueue, .cancelled, at: 0, of: 5, in: 2)
        recording.tell(.singleFlight, .joined, at: 3, of: 6, in: 1)
        recording.tell(.singleFlight, .started, .began(.waiting), at: 4, of: 6, in: 1, key: "k")
        recording.turn(5, (2, 5, 6), in: 3)
        let model = recording.model(now: 10)
        #expect(model.bars.map(\.primitive) == [.singleFlight, .fifoQueue])
        #expect(model.bars.map { $0.marks.map(\.kind) } == [[.joined], [.cancelled]])
        #expect(model.bars.allSatisfy { !$0.beganEarlier })
        #expect(model.groups.map(\.title) == ["SingleFlight #1", "FIFOQueue #3"])
    }

    @Test func whatHasNotEndedIsThereUntilNow() {
        var recording = Recording()
        recording.tell(.taskBag, .added, .began(.waiting), at: 0, of: 5, in: 1)
        recording.tell(.taskBag, .started, .entered(.running), at: 1, of: 5, in: 1)
        #expect(recording.model(now: 9).bars.map(\.story) == ["waiting 1 running 8 unfinished"])
        #expect(recording.model().bars.map(\.end) == [1_000_000])
    }

    @Test func whatBeganBeforeTheRecordingIsThereFromItsBeginning() {
        var recording = Recording()
        recording.turn(7, (0, 3, 8))
        recording.turn(8, (1, 8, 9))
        let model = recording.model(capacity: 5)
        #expect(model.lost == 3 && model.eventCount == 5)
        #expect(model.bars.map(\.story) == ["completed", "waiting 7 running 1 completed"])
        #expect(model.bars[0].beganEarlier && !model.bars[1].beganEarlier)
        #expect(model.bars.map(\.begin) == [0, 0])
    }

    @Test func timesThatRunBackwardsMakeNoNegativeStretch() {
        var recording = Recording()
        recording.tell(.taskBag, .added, .began(.waiting), at: 10, of: 5, in: 1)
        recording.tell(.taskBag, .started, .entered(.running), at: 8, of: 5, in: 1)
        recording.tell(.taskBag, .completed, .ended(.completed), at: 6, of: 5, in: 1)
        #expect(recording.model().bars.allSatisfy { $0.begin <= $0.end && $0.segments.allSatisfy { $0.begin >= 0 } })
    }

    @Test func tasksComeBeforeCallsInTheOrderOfTheirPrimitivesFirstEvents() {
        var recording = Recording()
        recording.tell(.retry, .failed, .began(.running), at: 0, of: 20)
        recording.tell(.asyncTask, .created, .began(.waiting), at: 0, of: 21)
        recording.turn(22, (0, 1, 2), in: 3)
        recording.tell(.asyncLifetime, .added, .began(.waiting), at: 1, of: 23, in: 4)
        recording.tell(.taskBag, .created, at: 1, in: 5)
        recording.tell(.taskBag, .cancelledAll, at: 1, in: 6)
        recording.turn(24, (3, 4, 5), in: 7)
        #expect(
            recording.model().groups.map(\.title) == [
                "AsyncTask", "FIFOQueue #3", "FIFOQueue #7", "AsyncLifetime #4", "TaskBag #6", "retry",
            ]
        )
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func barsOfALaneDoNotOverlapAndThereAreNoMoreLanesThanBarsAtOnce(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var recording = Recording()
        for subject in 0..<200 as Range<UInt64> {
            let begin = Int.random(in: 0..<500, using: &random)
            recording.turn(subject, (begin, begin + 1, begin + Int.random(in: 1...40, using: &random)))
        }
        let model = recording.model()
        #expect(model.bars.count == 200 && model.groups[0].bars == 0..<200)
        for lane in 0..<model.groups[0].laneCount {
            let bars = model.bars.filter { $0.lane == lane }
            #expect(!bars.isEmpty && zip(bars, bars.dropFirst()).allSatisfy { $0.end <= $1.begin })
        }
        let most = model.bars.map { bar in model.bars.filter { $0.begin <= bar.begin && bar.begin < $0.end }.count }
            .max()
        #expect(model.groups[0].laneCount == most)
    }

    // MARK: With real primitives

    @Test func whoJoinsIsTheBarOfItsTask() async throws {
        let (flights, lifetime, gate) = (SingleFlight<String, Int>(), AsyncLifetime(), Gate())
        try await EventLog.recording { recorder in
            let first = AsyncTask(name: "first") {
                _ = try? await flights.value(for: "k") {
                    try await gate.wait()
                    return 1
                }
            }.bind(to: lifetime)
            try await recorder.wait { $0.named("SingleFlight.running").count == 1 }
            let second = AsyncTask(name: "second") { _ = try? await flights.value(for: "k") { 2 } }.bind(to: lifetime)
            try await recorder.wait { $0.named("SingleFlight.joined").count == 1 }
            gate.open()
            await first.value
            await second.value
            let model = recorder.events.model()
            let flight = try #require(model.bars.first { $0.primitive == .singleFlight })
            #expect(flight.label == "k" && flight.outcome == .completed)
            #expect(flight.marks.filter { $0.kind == .joined }.map { model.bars[$0.by].label } == ["second"])
            #expect(model.groups.map(\.primitive) == [.asyncLifetime, .singleFlight] && model.bars.count == 3)
        }
    }

    @Test func aRequestIsLabelledByItsURLAlsoInATaskWithAName() throws {
        let http = TaskEvent.Primitive(rawValue: "HTTP")
        var recording = Recording()
        recording.tell(
            http,
            .started,
            .began(.running),
            at: 0,
            of: 1,
            task: "keystroke",
            detail: "GET https://a.example/b"
        )
        recording.tell(.taskBag, .added, .began(.waiting), at: 0, of: 2, task: "keystroke", detail: "what it does")
        #expect(recording.model(now: 1).bars.map(\.label).sorted() == ["GET https://a.example/b", "keystroke"])
    }

    @Test func aCancellationShowsItsCauseAndTheBarThatHasCancelled() async throws {
        let (bag, lifetime, gate) = (TaskBag(), AsyncLifetime(), Gate())
        try await EventLog.recording { recorder in
            bag.addTask(name: "cancelled") { await gate.waitIgnoringCancellation() }
            try await recorder.wait { $0.named("TaskBag.started").count == 1 }
            await AsyncTask(name: "cause") { bag.cancelAll(because: "signed out") }.bind(to: lifetime).value
            gate.open()
            try await recorder.wait { $0.named("TaskBag.completed").count == 1 }
            let model = recorder.events.model()
            let mark = try #require(model.bars.flatMap(\.marks).first { $0.kind == .cancelled })
            #expect(mark.text == "requested: signed out" && model.bars[mark.by].label == "cause")
            #expect(model.bars.allSatisfy { $0.detail == nil }, "the cause is not what the task does")
            let text = model.text(as: .perfetto, title: "t")
            let ends = text.split(separator: "\n").filter { $0.contains("\"cat\":\"cancellation\"") }
            #expect(ends.map { String($0.prefix(9)) } == [#"{"ph":"s""#, #"{"ph":"f""#])
            #expect(ends.count == 2 && ends.allSatisfy { $0.contains("\"id\":1") })
        }
    }

    @Test func aLifetimesTaskWhoseWorkThrewHasFailed() async throws {
        let (lifetime, owner) = (AsyncLifetime(), OrderRecorder<Int>())
        let events = await EventLog.events {
            _ = await lifetime.run(for: owner, name: "fetch") {
                throw MarkedError("no")
            } deliver: { (_, _: Int) in
            } onError: { _, _ in
            }.value
        }
        let bar = try #require(events.model().bars.first { $0.label == "fetch" })
        #expect(
            bar.outcome == .failed && bar.error == #"MarkedError(mark: "no")"# && bar.marks.map(\.kind) == [.workFailed]
        )
    }

    @Test func aGroupHasTheNameOfItsOwner() async {
        let events = await EventLog.events {
            let lifetime = AsyncLifetime(name: "feed")
            await AsyncTask {}.bind(to: lifetime).value
        }
        #expect(events.model().groups.map(\.name) == ["feed"])
    }

    @Test func everySubjectOfManyPrimitivesIsOneBarWithAnEnd() async throws {
        let (bag, store, queue) = (TaskBag(), TaskStore<Int>(), FIFOQueue(name: "q"))
        let semaphore = AsyncSemaphore(value: 1)
        var events: [TaskEvent] = []
        try await EventLog.recording { recorder in
            for _ in 0..<5 { bag.addTask { try? await semaphore.withPermit { try? await queue.run {} } } }
            for number in 0..<5 { store.addTask(forKey: number % 2) {} }
            _ = try? await retry(attempts: 2, backoff: .fixed(.zero)) { throw MarkedError() }
            _ = try? await withTimeout(.seconds(100)) { throw MarkedError() }
            try await bag.registry.drain()
            try await store.drain()
            try await queue.drain()
            // The last ends are delivered after the drains have returned.
            try await recorder.wait { $0.unpaired == [] }
            events = recorder.events
        }
        let model = events.model()
        #expect(model.bars.count == Set(events.compactMap(\.subject)).count && events.unpaired == [])
        #expect(model.bars.allSatisfy { $0.outcome != .unfinished && !$0.beganEarlier && !$0.segments.isEmpty })
        #expect(model.groups.map { $0.bars.count }.reduce(0, +) == model.bars.count)
    }
}
