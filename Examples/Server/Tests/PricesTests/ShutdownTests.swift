import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceLifecycle
import TaskControl
import TaskControlTesting
import TaskControlTrace
import Testing

@testable import prices

/// The service in a service group, over a real port.
@Suite(.timeLimit(.minutes(5)))
struct ShutdownTests {
    private let clock = TestClock()
    private let events = OrderRecorder<String>()
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func makeServer(
        _ supplier: StubSupplier,
        store gate: Gate? = nil,
        deregistration: Duration = .zero,
        port: OrderRecorder<Int> = OrderRecorder()
    ) -> PricesServer {
        PricesServer(
            settings: PricesServer.Settings(port: 0, deregistration: deregistration),
            supplier: supplier,
            store: StubStore(events: events, gate: gate),
            recorder: TraceRecorder(),
            clock: clock,
            logger: Self.silent,
            onServerRunning: { channel in port.record(channel.localAddress?.port ?? 0) }
        )
    }

    private func makeGroup(_ server: PricesServer) -> ServiceGroup {
        ServiceGroup(services: server.services, logger: Self.silent)
    }

    @Test func recordsOfUsageAreStoredAndFlushedBeforeTheProcessEnds() async throws {
        let (store, port) = (Gate(), OrderRecorder<Int>())
        let server = makeServer(StubSupplier(), store: store, port: port)
        let group = makeGroup(server)
        let run = Task { try await group.run() }
        try await port.waitForEvents(count: 1)
        server.usage.record("tea")
        server.usage.record("coffee")
        try await store.waitForWaiters()
        await group.triggerGracefulShutdown()
        store.open()
        try await run.value
        #expect(events.events == ["tea", "coffee", "flush"])
    }

    @Test func theServerAnswersUntilTheLoadBalancerHasNoticedThatItIsNotReady() async throws {
        let port = OrderRecorder<Int>()
        let server = makeServer(StubSupplier(), deregistration: .seconds(10), port: port)
        let group = makeGroup(server)
        let run = Task { try await group.run() }
        try await port.waitForEvents(count: 1)
        try await TestClient.withClient(host: "127.0.0.1", port: port.events[0]) { [clock] client in
            #expect(try await client.get("/health").status == .ok)
            await group.triggerGracefulShutdown()
            try await clock.waitForSleepers(count: 2)  // the step and its grace
            #expect(try await client.get("/health").status == .serviceUnavailable)
            await clock.advance(by: .seconds(10))
        }
        try await run.value
        #expect(events.events == ["flush"])
    }

    @Test func aRequestInProgressIsAnsweredBeforeTheServerEnds() async throws {
        let (supplier, port) = (Gate(), OrderRecorder<Int>())
        let price = Price(product: "tea", cents: 320)
        let server = makeServer(StubSupplier(["tea": .success(price)], gate: supplier), port: port)
        let group = makeGroup(server)
        let run = Task { try await group.run() }
        try await port.waitForEvents(count: 1)
        try await TestClient.withClient(host: "127.0.0.1", port: port.events[0]) { client in
            async let response = client.get("/prices/tea")
            try await supplier.waitForWaiters()
            await group.triggerGracefulShutdown()
            supplier.open()
            #expect(try await response.status == .ok)
        }
        try await run.value
        #expect(events.events == ["tea", "flush"])
    }
}
