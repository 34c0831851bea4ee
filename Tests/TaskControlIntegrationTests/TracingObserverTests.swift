#if Tracing
import InMemoryTracing
import TaskControlTesting
import TestSupport
import Testing
import Tracing

@testable import TaskControl
@testable import TaskControlTelemetry

/// The spans, their parents, and their attributes.
@Suite(.timeLimit(.minutes(15)))
struct TracingObserverTests {
    private let tracer = InMemoryTracer()

    private func spans(_ name: String) -> [FinishedInMemorySpan] {
        tracer.finishedSpans.filter { $0.operationName == name }
    }

    @Test func aTaskOfAQueueIsASpanBelowItsSender() async throws {
        let observer = TracingObserver(tracer: tracer)
        try await Audience.of(observer) { told in
            try await tracer.withSpan("caller") { _ in
                let (queue, gate) = (FIFOQueue(name: "uploads"), Gate())
                let tasks = ["a", "b"].map { name in Task(name: name, on: queue) { try await gate.wait() } }
                try await told.wait { $0.named("FIFOQueue.waiting").count == 1 }
                gate.open()
                for task in tasks { try await task.value }
            }
        }
        let (caller, turns) = (try #require(spans("caller").first), spans("FIFOQueue"))
        #expect(turns.count == 2 && turns.allSatisfy { $0.parentSpanID == caller.spanID && $0.kind == .internal })
        #expect(turns.map { $0.events.map(\.name) } == [["started"], ["waiting", "started"]])
        for (turn, name) in zip(turns, ["a", "b"]) {
            #expect(turn.attributes.get("taskControl.taskName") == .string(name))
            #expect(turn.attributes.get("taskControl.ownerName") == .string("uploads"))
            #expect(turn.attributes.get("taskControl.outcome") == .string("completed"))
            #expect(turn.status == nil)
        }
        #expect(observer.count == 0 && tracer.activeSpans.isEmpty)
    }

    @Test func whoJoinsAFlightHasASpanThatIsLinkedToIt() async throws {
        let observer = TracingObserver(tracer: tracer)
        try await Audience.of(observer) { told in
            let (flights, gate) = (SingleFlight<String, Int>(), Gate())
            func call(_ name: String) -> Task<Int, any Error> {
                Task {
                    try await tracer.withSpan(name) { _ in
                        try await flights.value(for: "k") {
                            try await gate.wait(); return 7
                        }
                    }
                }
            }
            let first = call("first")
            try await told.wait { $0.named("SingleFlight.started").count == 1 }
            let others = [call("second"), call("third")]
            try await told.wait { $0.named("SingleFlight.joined").count == 2 }
            #expect(observer.count == 3)
            others[1].cancel()
            _ = await others[1].result
            try await told.wait { $0.named("SingleFlight.left").count == 1 }
            // The span of a caller that leaves ends, and the span of the flight does not.
            let left = try #require(spans("SingleFlight.joined").first)
            #expect(left.parentSpanID == tracer.finishedSpans.first { $0.operationName == "third" }?.spanID)
            #expect(left.attributes.get("taskControl.outcome") == .string("cancelled") && observer.count == 2)
            gate.open()
            _ = try await (first.value, others[0].value)
        }
        let flight = try #require(spans("SingleFlight").first)
        #expect(flight.parentSpanID == spans("first").first?.spanID)
        #expect(flight.attributes.get("taskControl.key") == .string("k"))
        #expect(flight.attributes.get("taskControl.joined") == .int64(2))
        let joined = spans("SingleFlight.joined")
        try #require(joined.count == 2)
        #expect(joined[1].parentSpanID == spans("second").first?.spanID)
        #expect(joined[1].attributes.get("taskControl.outcome") == .string("completed"))
        for span in joined {
            #expect(span.links.map(\.context.inMemorySpanContext?.spanID) == [flight.spanID])
        }
        #expect(observer.count == 0 && tracer.activeSpans.isEmpty)
    }

    @Test func aFailureIsAnErrorAndACancellationIsNot() async throws {
        let observer = TracingObserver(tracer: tracer)
        try await Audience.of(observer) { told in
            let (queue, gate) = (FIFOQueue(), Gate())
            _ = await Task(on: queue) { throw MarkedError("lost") }.result
            let task = Task(on: queue) { try await gate.wait() }
            try await gate.waitForWaiters()
            task.cancel()
            _ = await task.result
            try? await retry(attempts: 2, backoff: .none) { throw MarkedError("no") }
        }
        let turns = spans("FIFOQueue")
        try #require(turns.count == 2)
        #expect(turns[0].status == SpanStatus(code: .error, message: #"MarkedError(mark: "lost")"#))
        #expect(turns[1].status == nil && turns[1].attributes.get("taskControl.isCancelled") == .bool(true))
        let retried = try #require(spans("retry").first)
        #expect(retried.status?.code == .error && retried.events.map(\.name) == ["waiting", "retrying", "failed"])
        #expect(retried.attributes.get("taskControl.attempt") == .int64(2))
        #expect(retried.events[0].attributes.get("taskControl.delay") == .double(0))
    }

    @Test func onlyTheChosenPrimitivesHaveSpans() async throws {
        try await Audience.of(TracingObserver(tracer: tracer, primitives: [.asyncSemaphore])) { _ in
            try await AsyncSemaphore(value: 1).withPermit { await Task(on: FIFOQueue()) {}.value }
            try? await retry(attempts: 2, backoff: .none) { throw MarkedError() }
        }
        #expect(tracer.finishedSpans.map(\.operationName) == ["AsyncSemaphore"] && tracer.activeSpans.isEmpty)
    }

    @Test func anHTTPAttemptIsTheSpanOfAClient() {
        let observer = TracingObserver(tracer: tracer)
        observer.receive(.at(0, .http, .started, .began(.running), detail: "GET https://example.org/a"))
        observer.receive(.at(1, .http, .failed, .ended(.failed), error: "503", status: 503))
        let span = spans("HTTP").first
        #expect(span?.kind == .client && span?.status?.code == .error)
        #expect(span?.attributes.get("taskControl.status") == .int64(503))
    }

    @Test func spansOfWhatIsStillThereEndWithTheObservation() {
        do {
            let observer = TracingObserver(tracer: tracer)
            observer.receive(.at(0, .taskBag, .added, .began(.waiting)))
            #expect(tracer.activeSpans.count == 1)
        }
        #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.count == 1)
    }

    @Test func ofAHundredThousandSubjectsNothingIsKept() async {
        let observer = TracingObserver(tracer: NoOpTracer())
        for number in 1...100_000 as ClosedRange<UInt64> {
            observer.receive(.at(0, .singleFlight, .started, .began(.waiting), subject: number))
            observer.receive(.at(1, .singleFlight, .joined, subject: number))
            observer.receive(.at(2, .singleFlight, .completed, .ended(.completed), subject: number))
            // Reported by another thread, too late.
            observer.receive(.at(3, .singleFlight, .joined, subject: number))
            if number.isMultiple(of: 10_000) { #expect(observer.count == 0) }
        }
    }

    @Test func everySpanEndsWhateverTheThreadsDo() async throws {
        let observer = TracingObserver(tracer: tracer)
        let flights = SingleFlight<Int, Int>()
        await Audience.of(observer) { _ in
            await withTaskGroup { group in
                for number in 0..<400 {
                    group.addTask {
                        let caller = Task {
                            _ = try? await flights.value(for: number % 3) {
                                await Task.yield()
                                return number
                            }
                        }
                        if number.isMultiple(of: 4) { caller.cancel() }
                        await caller.value
                    }
                }
            }
            // The end of a flight is reported after it has left. A span that never ends runs into the limit.
            while flights._flights.liveCount > 0 || observer.count > 0 { await Task.yield() }
        }
        #expect(observer.count == 0 && tracer.activeSpans.isEmpty)
        #expect(!spans("SingleFlight").isEmpty)
        #expect(spans("SingleFlight.joined").allSatisfy { $0.links.count == 1 })
    }

    /// Takes the observer's lock in each call, in debug builds a trap if it is held by the caller.
    @Test func theTracerIsCalledWithoutALock() {
        let look = Locked<@Sendable () -> Int>({ 0 })
        let looks = Locked(0)
        let tracer = InMemoryTracer(
            idGenerator: .init(
                nextTraceID: { "trace" },
                nextSpanID: {
                    let look = look.withLock { $0 }
                    _ = look()
                    return looks.withLock { looks in
                        looks += 1
                        return "span-\(looks)"
                    }
                }
            )
        )
        let observer = TracingObserver(tracer: tracer)
        look.withLock { $0 = { [weak observer] in observer?.count ?? 0 } }
        observer.receive(.at(0, .singleFlight, .started, .began(.waiting)))
        observer.receive(.at(1, .singleFlight, .completed, .ended(.completed)))
        #expect(looks.withLock { $0 } == 1 && tracer.finishedSpans.count == 1)
    }

    #if SUBPROCESSES
    @Test(.oneProcessAtATime) func attributesAreRedacted() async throws {
        await #expect(processExitsWith: .success) {
            TaskDiagnostics.configure(TaskDiagnostics.Configuration(redact: { $0.contains("hush") ? "…" : $0 }))
            let tracer = InMemoryTracer()
            TaskDiagnostics.install(TracingObserver(tracer: tracer))
            let ended = Collector { $0.primitive == .withSingleFlight && $0.outcome != nil }
            TaskDiagnostics.install(ended)
            await Task(name: "hush task", on: FIFOQueue(name: "hush queue")) {}.value
            _ = try? await withSingleFlight(key: "hush key") { throw MarkedError("hush error") }
            // The flight's end is reported after its callers have been resumed.
            try await ended.wait(until: { !$0.isEmpty })
            let spans = tracer.finishedSpans
            precondition(spans.count == 2 && !"\(spans)".contains("hush") && "\(spans)".contains("…"))
        }
    }
    #endif
}
#endif
