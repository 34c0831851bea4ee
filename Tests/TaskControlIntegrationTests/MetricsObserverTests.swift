#if Metrics
import CoreMetrics
import MetricsTestKit
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTelemetry

/// The measurements that arrive at swift-metrics.
@Suite(.timeLimit(.minutes(15)))
struct MetricsObserverTests {
    private let metrics = TestMetrics()

    private func level(_ label: String, _ primitive: String) -> Double? {
        metrics.meters(label: "task_control_" + label, dimensions: [("primitive", primitive)]).first?.lastValue
    }

    private func total(_ label: String, _ dimensions: [(String, String)]) -> Int64 {
        metrics.counterTotal(label: "task_control_" + label, dimensions: dimensions)
    }

    @Test func theDepthOfAQueueAndTheWaitInItAreMeasured() async throws {
        let observer = MetricsObserver(factory: metrics)
        try await Audience.of(observer) { told in
            let (queue, gate) = (FIFOQueue(), Gate())
            let tasks = (0..<4).map { _ in Task(on: queue) { try await gate.wait() } }
            try await told.wait { $0.named("FIFOQueue.started").count == 1 }
            #expect(level("in_flight", "FIFOQueue") == 4 && level("waiting", "FIFOQueue") == 3)
            gate.open()
            for task in tasks { try await task.value }
        }
        #expect(level("in_flight", "FIFOQueue") == 0 && level("waiting", "FIFOQueue") == 0)
        #expect(total("started", [("primitive", "FIFOQueue")]) == 4)
        #expect(total("ended", [("primitive", "FIFOQueue"), ("outcome", "completed")]) == 4)
        for label in ["wait_time", "run_time"] {
            let timers = metrics.timers(label: "task_control_" + label, dimensions: [("primitive", "FIFOQueue")])
            #expect(timers.count == 1 && timers.first?.values.count == 4)
            #expect(timers.first?.values.allSatisfy { $0 >= 0 } == true)
        }
        #expect(observer.count == 0)
    }

    @Test func joinersRetriesLimitsAndPermitsAreCounted() async throws {
        let observer = MetricsObserver(factory: metrics)
        try await Audience.of(observer) { told in
            let (flights, gate) = (SingleFlight<Int, Int>(), Gate())
            let first = Task {
                try await flights.value(for: 1) {
                    try await gate.wait(); return 1
                }
            }
            try await told.wait { $0.named("SingleFlight.started").count == 1 }
            let second = Task { try await flights.value(for: 1) { 2 } }
            try await told.wait { $0.named("SingleFlight.joined").count == 1 }
            gate.open()
            _ = try await (first.value, second.value)
            try? await retry(attempts: 3, backoff: .none) { throw MarkedError() }
            let clock = TestClock()
            let timed = Task {
                try await withTimeout(.seconds(1), clock: clock) { try await Gate().wait() }
            }
            try await clock.waitForSleepers()
            await clock.advance(by: .seconds(1))
            _ = await timed.result
            try await AsyncSemaphore(value: 1).withPermit {}
        }
        #expect(total("joined", [("primitive", "SingleFlight")]) == 1)
        #expect(total("retries", []) == 2)
        #expect(total("ended", [("primitive", "retry"), ("outcome", "failed")]) == 1)
        #expect(total("ended", [("primitive", "withTimeout"), ("outcome", "timedOut")]) == 1)
        #expect(total("ended", [("primitive", "AsyncSemaphore"), ("outcome", "completed")]) == 1)
        #expect(observer.count == 0)
    }

    @Test func ownersAreToldApartOnlyIfThatIsAskedFor() async throws {
        for includesOwnerNames in [false, true] {
            let metrics = TestMetrics()
            try await Audience.of(MetricsObserver(factory: metrics, includesOwnerNames: includesOwnerNames)) { _ in
                for name in ["a", "b"] { await Task(on: FIFOQueue(name: name)) {}.value }
                try await AsyncSemaphore(value: 1).withPermit {}
            }
            let owners = metrics.counters(label: "task_control_started").map { $0.dimensions.map(\.1) }
            #expect(
                Set(owners)
                    == (includesOwnerNames
                        ? [["FIFOQueue", "a"], ["FIFOQueue", "b"], ["AsyncSemaphore", ""]]
                        : [["FIFOQueue"], ["AsyncSemaphore"]])
            )
        }
    }

    @Test func whatIsInFlightWhenItsObservationEndsIsTakenBack() {
        do {
            let observer = MetricsObserver(factory: metrics)
            observer.receive(.at(0, .taskBag, .added, .began(.waiting), subject: 1))
            observer.receive(.at(0, .taskBag, .adopted, .began(.running), subject: 2))
            #expect(level("in_flight", "TaskBag") == 2 && level("waiting", "TaskBag") == 1)
        }
        #expect(level("in_flight", "TaskBag") == 0 && level("waiting", "TaskBag") == 0)
    }

    @Test func ofAHundredThousandSubjectsNothingIsKept() {
        let observer = MetricsObserver(factory: NOOPMetricsHandler.instance)
        for number in 1...100_000 as ClosedRange<UInt64> {
            observer.receive(.at(0, .fifoQueue, .enqueued, .began(.waiting), subject: number))
            observer.receive(.at(1, .fifoQueue, .started, .entered(.running), subject: number))
            observer.receive(.at(2, .fifoQueue, .completed, .ended(.completed), subject: number))
            // Reported by another thread, too late.
            observer.receive(.at(3, .fifoQueue, .cancelled, subject: number))
            if number.isMultiple(of: 10_000) { #expect(observer.count == 0) }
        }
    }

    @Test func theSameMetersStandAtZeroWhateverTheThreadsDo() async throws {
        let observer = MetricsObserver(factory: metrics)
        await Audience.of(observer) { _ in
            let bag = TaskBag()
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for number in 0..<500 {
                            bag.addTask {}
                            if number.isMultiple(of: 100) { bag.cancel() }
                        }
                    }
                }
            }
            try? await bag.registry.drain()
        }
        #expect(level("in_flight", "TaskBag") == 0 && level("waiting", "TaskBag") == 0)
        #expect(total("started", [("primitive", "TaskBag")]) == 2_000)
        let ends = metrics.counters(label: "task_control_ended").filter { $0.dimensions.first?.1 == "TaskBag" }
        #expect(ends.reduce(0) { $0 + $1.totalValue } == 2_000)
    }

    /// Takes the observer's locks in each call, in debug builds a trap if one is held by the caller.
    @Test func theFactoryAndItsMetricsAreCalledWithoutALock() {
        let curious = Curious()
        let observer = MetricsObserver(factory: curious)
        curious.look.withLock {
            $0 = { [weak observer] in
                observer?.receive(.at(0, .http, .started, .began(.running), subject: 2))
                observer?.receive(.at(0, .http, .completed, .ended(.completed), subject: 2))
            }
        }
        for event in [
            TaskEvent.at(0, .http, .started, .began(.running)), .at(1, .http, .waiting, .entered(.waiting)),
            .at(2, .http, .running, .entered(.running)),
            .at(3, .http, .completed, .ended(.completed), status: 200),
        ] { observer.receive(event) }
        #expect(curious.looks.withLock { $0 } >= 10 && observer.count == 0)
    }

    private final class Curious: MetricsFactory, CounterHandler, MeterHandler, RecorderHandler, TimerHandler {
        let look = Locked<@Sendable () -> Void>({})
        let looks = Locked(0)
        /// A look is not looked at.
        private let isLooking = Locked(false)

        private func call() {
            guard
                isLooking.withLock({ isLooking in
                    defer { isLooking = true }
                    return !isLooking
                })
            else { return }
            let look = look.withLock { $0 }
            look()
            looks.withLock { $0 += 1 }
            isLooking.withLock { $0 = false }
        }

        private func made() -> Curious {
            call()
            return self
        }

        func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { made() }
        func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler { made() }
        func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { made() }
        func makeRecorder(
            label: String,
            dimensions: [(String, String)],
            aggregate: Bool
        ) -> any RecorderHandler { made() }
        func destroyCounter(_ handler: any CounterHandler) { call() }
        func destroyMeter(_ handler: any MeterHandler) { call() }
        func destroyRecorder(_ handler: any RecorderHandler) { call() }
        func destroyTimer(_ handler: any TimerHandler) { call() }
        func increment(by amount: Int64) { call() }
        func increment(by amount: Double) { call() }
        func decrement(by amount: Double) { call() }
        func reset() { call() }
        func set(_ value: Int64) { call() }
        func set(_ value: Double) { call() }
        func record(_ value: Int64) { call() }
        func record(_ value: Double) { call() }
        func recordNanoseconds(_ duration: Int64) { call() }
    }
}
#endif
