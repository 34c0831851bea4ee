#if Tracing
import InMemoryTracing
import TaskControlTesting
import TestSupport
import Testing
import Tracing

@testable import TaskControl
@testable import TaskControlTelemetry

/// Work inherits the context of the caller that starts it, with an observer and without.
@Suite(.timeLimit(.minutes(15)))
struct ContextPropagationTests {
    private enum Tag: ServiceContextKey {
        typealias Value = String
    }

    private static var tag: String? { ServiceContext.current?[Tag.self] }

    private func tagged<Value>(_ tag: String, _ body: () async throws -> Value) async rethrows -> Value {
        var context = ServiceContext.current ?? .topLevel
        context[Tag.self] = tag
        return try await ServiceContext.withValue(context, operation: body)
    }

    private actor Worker {
        let queue = ActorQueue<Worker>()

        init() { queue.adoptExecutionContext(of: self) }
    }

    private final class Owner: Sendable {}

    @Test func theContextReachesTheWorkOfEveryPrimitive() async throws {
        let seen = OrderRecorder<String>()
        @Sendable func look(_ place: String) { seen.record("\(place) \(Self.tag ?? "none")") }
        let (worker, owner, queue, group) = (
            Worker(), Owner(), FIFOQueue(), CancellableQueue(underlyingQueue: FIFOQueue())
        )
        let (lifetime, bag, store) = (AsyncLifetime(), TaskBag(), TaskStore<Int>())
        // A task that keeps the turn, so that the others wait for theirs.
        let gate = Gate()
        let busy = Task(on: queue) { try await gate.wait() }
        try await Audience.of(TracingObserver(tracer: InMemoryTracer())) { _ in
            try await tagged("mine") {
                let tasks = [
                    Task(on: queue) { look("FIFOQueue") }, Task(on: worker.queue) { _ in look("ActorQueue") },
                    Task(on: group) { look("CancellableQueue") },
                ]
                let delivery = lifetime.run(for: owner) {
                    look("AsyncLifetime")
                } deliver: { _, _ in
                    look("deliver")
                }
                AsyncTask { look("AsyncTask") }.bind(to: lifetime)
                bag.addTask { look("TaskBag") }
                store.addTask(forKey: 1) { look("TaskStore") }
                store.addTask(forKey: 1, duplicateKeyBehavior: .wait) { look("TaskStore waiting") }
                gate.open()
                for task in tasks { await task.value }
                _ = await delivery.value
                try await queue.run { look("run") }
                _ = try await withSingleFlight(key: "\(Self.self)") { look("withSingleFlight") }
                _ = try await SingleFlight<Int, Void>().value(for: 1) { look("SingleFlight") }
                try await retry(attempts: 2, backoff: .none) { attempt in
                    look("retry")
                    if attempt == 1 { throw MarkedError() }
                }
                try await withTimeout(.seconds(100)) { look("withTimeout") }
                try await withDetachedTimeout(.seconds(100)) { look("withDetachedTimeout") }
                try await AsyncSemaphore(value: 1).withPermit { look("AsyncSemaphore") }
            }
            try await lifetime.drain()
            try await bag.registry.drain()
            try await store.drain()
        }
        try await busy.value
        #expect(seen.count == 17 && seen.events.allSatisfy { $0.hasSuffix(" mine") }, "\(seen.events)")
    }

    @Test func aFlightHasTheContextOfItsFirstCaller() async throws {
        let (flights, gate) = (SingleFlight<Int, String?>(), Gate())
        try await Audience.of(TracingObserver(tracer: InMemoryTracer())) { told in
            func call(_ tag: String) -> Task<String?, any Error> {
                Task {
                    try await tagged(tag) {
                        try await flights.value(for: 1) {
                            try await gate.wait()
                            return Self.tag
                        }
                    }
                }
            }
            let first = call("first")
            try await told.wait { $0.named("SingleFlight.started").count == 1 }
            let second = call("second")
            try await told.wait { $0.named("SingleFlight.joined").count == 1 }
            gate.open()
            for caller in [first, second] {
                let value = try await caller.value
                #expect(value == "first")
            }
        }
    }

    @Test func aSpanOfTheWorkIsASiblingOfTheWorksOwn() async throws {
        let tracer = InMemoryTracer()
        await Audience.of(TracingObserver(tracer: tracer)) { _ in
            await tracer.withSpan("caller") { _ in
                await Task(on: FIFOQueue()) { tracer.withSpan("inside") { _ in } }.value
            }
        }
        let caller = tracer.finishedSpans.first { $0.operationName == "caller" }
        for name in ["inside", "FIFOQueue"] {
            #expect(tracer.finishedSpans.first { $0.operationName == name }?.parentSpanID == caller?.spanID)
        }
        #expect(caller != nil && tracer.finishedSpans.count == 3)
    }
}
#endif
