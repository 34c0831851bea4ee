import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import TaskControl
import TaskControlSnapshot
import TaskControlSupervision
import TaskControlTesting
import TaskControlTrace
import Testing

@testable import prices

/// The routes, with a supplier and a clock of the test.
@Suite(.timeLimit(.minutes(5)))
struct PricesTests {
    private let clock = TestClock()
    private let usage = OrderRecorder<String>()
    private static let tea = Price(product: "tea", cents: 320)
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func makeServer(
        _ supplier: StubSupplier,
        recorder: TraceRecorder = TraceRecorder(),
        clock: any Clock<Duration>
    ) -> PricesServer {
        PricesServer(
            settings: PricesServer.Settings(callBackoff: .none, connectionBackoff: .none),
            supplier: supplier,
            store: StubStore(events: usage),
            recorder: recorder,
            clock: clock,
            logger: Self.silent
        )
    }

    private func price(in response: TestResponse) throws -> Price {
        try JSONDecoder().decode(Price.self, from: Data(response.body.readableBytesView))
    }

    // MARK: Prices

    @Test func concurrentRequestsShareOneCallOfTheSupplier() async throws {
        let gate = Gate()
        let supplier = StubSupplier(["tea": .success(Self.tea)], gate: gate)
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            async let one = client.execute(uri: "/prices/tea", method: .get)
            async let other = client.execute(uri: "/prices/tea", method: .get)
            try await gate.waitForWaiters()
            gate.open()
            for response in try await [one, other] {
                #expect(response.status == .ok)
                #expect(try price(in: response) == Self.tea)
            }
        }
        #expect(supplier.calls.events == ["tea"])
        try await usage.waitForEvents(count: 2)
        #expect(usage.events == ["tea", "tea"])
    }

    @Test func anUnknownProductIsAnAnswerThatIsNotRetriedAndIsCached() async throws {
        let supplier = StubSupplier()
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            for _ in 1...2 {
                let response = try await client.execute(uri: "/prices/gold", method: .get)
                #expect(response.status == .notFound)
            }
        }
        #expect(supplier.calls.events == ["gold"])
        #expect(usage.events.isEmpty)
    }

    @Test func anOldPriceIsSentWhileTheSupplierFails() async throws {
        let supplier = StubSupplier(["tea": .success(Self.tea)])
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            _ = try await client.execute(uri: "/prices/tea", method: .get)
            await supplier.setAnswer(.failure(SupplierFailure()), for: "tea")
            await clock.advance(by: .seconds(120))
            let response = try await client.execute(uri: "/prices/tea", method: .get)
            #expect(response.status == .ok)
            #expect(try price(in: response) == Self.tea)
        }
        #expect(supplier.calls.count == 1 + 3)
    }

    @Test func aSupplierThatKeepsFailingIsLeftAloneAndClientsLearnWhenToComeBack() async throws {
        let products = (1...6).map { "product\($0)" }
        let supplier = StubSupplier(
            Dictionary(uniqueKeysWithValues: products.map { ($0, .failure(SupplierFailure())) })
        )
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            for product in products.prefix(5) {
                let response = try await client.execute(uri: "/prices/\(product)", method: .get)
                #expect(response.status == .badGateway)
            }
            let callCount = supplier.calls.count
            let refused = try await client.execute(uri: "/prices/\(products[5])", method: .get)
            #expect(refused.status == .serviceUnavailable)
            #expect(refused.headers[.retryAfter] == "5")
            #expect(supplier.calls.count == callCount)
        }
    }

    // MARK: Deadlines

    @Test func aRequestEndsAtTheDeadlineOfItsClientAndCancelsTheCallOfTheSupplier()
        async throws
    {
        let gate = Gate()
        let supplier = StubSupplier(["tea": .success(Self.tea)], gate: gate)
        try await makeServer(supplier, clock: clock).application.test(.router) {
            client in
            async let response = client.execute(
                uri: "/prices/tea",
                method: .get,
                headers: [HTTPField.Name("Request-Timeout")!: "250"]
            )
            try await gate.waitForWaiters()
            await clock.advance(by: .milliseconds(250))
            #expect(try await response.status == .gatewayTimeout)
        }
        try await supplier.calls.waitForEvents(count: 2)
        #expect(supplier.calls.events == ["tea", "tea is cancelled"])
    }

    @Test func anotherRequestKeepsTheSharedCallBeyondTheDeadlineOfTheFirst() async throws {
        let gate = Gate()
        let supplier = StubSupplier(["tea": .success(Self.tea)], gate: gate)
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            async let patient = client.execute(uri: "/prices/tea", method: .get)
            try await gate.waitForWaiters()
            let impatient = try await client.execute(
                uri: "/prices/tea",
                method: .get,
                headers: [HTTPField.Name("Request-Timeout")!: "0"]
            )
            #expect(impatient.status == .gatewayTimeout)
            gate.open()
            #expect(try await patient.status == .ok)
        }
        #expect(supplier.calls.events == ["tea"])
    }

    @Test func aSupplierThatNeverAnswersIsAGatewayTimeoutWithoutAnyHeader() async throws {
        let supplier = StubSupplier(gate: Gate())
        let clock = TestClock(advancesAutomatically: true)
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            let response = try await client.execute(uri: "/prices/tea", method: .get)
            #expect(response.status == .gatewayTimeout)
        }
    }

    @Test func aHeaderThatIsNoNumberIsIgnored() async throws {
        let supplier = StubSupplier(["tea": .success(Self.tea)])
        try await makeServer(supplier, clock: clock).application.test(.router) { client in
            let response = try await client.execute(
                uri: "/prices/tea",
                method: .get,
                headers: [HTTPField.Name("Request-Timeout")!: "soon"]
            )
            #expect(response.status == .ok)
        }
    }

    // MARK: Background work

    @Test func aChangedPriceIsSentAndALostConnectionIsMadeAgain() async throws {
        let received = Gate()
        let (first, toFirst) = AsyncThrowingStream<Price, any Error>.makeStream()
        toFirst.finish(throwing: SupplierFailure())
        let changed = Price(product: "tea", cents: 999)
        let reads = OrderRecorder<String>()
        // The second element is asked for when the first one has been handled.
        let second = AsyncThrowingStream<Price, any Error> {
            reads.record("read")
            if reads.count == 1 { return changed }
            received.open()
            try await Gate().wait()
            return nil
        }
        let supplier = StubSupplier(connections: [first, second])
        let server = makeServer(supplier, clock: clock)
        let background = Task { try await server.background.run() }
        try await received.wait()
        try await server.application.test(.router) { client in
            let response = try await client.execute(uri: "/prices/tea", method: .get)
            #expect(try price(in: response) == changed)
        }
        #expect(supplier.calls.events == ["connect", "connect"])
        await server.background.shutdown()
        try await background.value
    }

    // MARK: Debugging

    @Test func theDebugRoutesShowARequestThatHangs() async throws {
        TaskSnapshot.startTracking()
        let (gate, recorder) = (Gate(), TraceRecorder())
        let observation = TaskDiagnostics.observe(recorder)
        defer { observation.end() }
        let supplier = StubSupplier(["hanging": .success(Self.tea)], gate: gate)
        try await makeServer(supplier, recorder: recorder, clock: clock).application.test(.live) { client in
            async let request = client.execute(uri: "/prices/hanging", method: .get)
            try await gate.waitForWaiters()
            try await makeServer(supplier, recorder: recorder, clock: clock).application.test(.router) { client in
                let text = try await client.execute(uri: "/debug/tasks", method: .get)
                #expect(String(buffer: text.body).contains(#""prices""#))
                #expect(String(buffer: text.body).contains("hanging"))

                let json = try await client.execute(uri: "/debug/tasks?format=json", method: .get)
                let snapshot = try JSONDecoder().decode(TaskSnapshot.self, from: Data(json.body.readableBytesView))
                let cache = snapshot.owners.first { owner in owner.entries.contains { $0.key == "hanging" } }
                #expect(cache?.name == "prices")

                let page = try await client.execute(uri: "/debug/trace", method: .get)
                #expect(page.headers[.contentType] == "text/html; charset=utf-8")
                #expect(String(buffer: page.body).contains("hanging"))

                let perfetto = try await client.execute(uri: "/debug/trace?format=perfetto", method: .get)
                let object = try JSONSerialization.jsonObject(with: Data(perfetto.body.readableBytesView))
                #expect(object is [String: Any])
            }
            gate.open()
            #expect(try await request.status == .ok)
        }
    }
}
