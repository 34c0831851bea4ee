import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle
import TaskControl
import TaskControlHTTP
import TaskControlSupervision
import TaskControlTrace

/// The parts of the service, and the order in which they start and end.
struct PricesServer: Sendable {
    let application: Application<RouterResponder<BasicRequestContext>>
    let prices: PriceList
    let usage: UsageLog
    let readiness = Readiness()
    let background: Supervisor
    private let settings: Settings
    private let store: any UsageStore
    private let clock: any Clock<Duration>

    struct Settings: Sendable {
        var host = "127.0.0.1"
        var port = 8080
        /// The longest time that a request may take.
        var requestLimit: Duration = .seconds(5)
        /// The time that a load balancer takes to notice that this process is no longer ready.
        var deregistration: Duration = .zero
        /// The delays before a call of the supplier is made again.
        var callBackoff = RetryPolicy.default.backoff
        /// The delays before a lost connection to the supplier is made again.
        var connectionBackoff = RetryBackoff.supervision
    }

    /// Creates the parts. Nothing runs until the services do.
    ///
    /// - Parameters:
    ///   - settings: The address and the limits.
    ///   - supplier: The upstream service.
    ///   - store: Receives the records of usage.
    ///   - recorder: Has the trace that `/debug/trace` shows.
    ///   - clock: Measures everything except the shutdown of the HTTP server.
    ///   - logger: The logger of the HTTP server.
    ///   - onServerRunning: Called when the HTTP server has opened its port.
    init(
        settings: Settings = Settings(),
        supplier: any Supplier,
        store: any UsageStore,
        recorder: TraceRecorder,
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger,
        onServerRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }
    ) {
        self.settings = settings
        self.store = store
        self.clock = clock
        prices = PriceList(supplier: supplier, backoff: settings.callBackoff, clock: clock)
        usage = UsageLog(store: store)
        background = Supervisor(
            keeping: prices,
            upToDateWith: supplier,
            backoff: settings.connectionBackoff,
            clock: clock
        )

        let router = Router()
        router.get("health") { [readiness] _, _ in
            await readiness.isReady ? HTTPResponse.Status.ok : .serviceUnavailable
        }
        DebugRoutes(recorder: recorder).add(to: router.group("debug"))
        router.group("prices")
            .add(middleware: FailureMiddleware())
            .add(middleware: DeadlineMiddleware(header: .requestTimeout, maximum: settings.requestLimit, clock: clock))
            .get(":product") { [prices, usage] _, context in
                let price = try await prices.price(of: context.parameters.require("product"))
                usage.record(price.product)
                return price
            }
        application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: onServerRunning,
            logger: logger
        )
    }

    /// The services, in the order in which a service group starts them. The group shuts them down in reverse order, each after the service behind it
    /// has ended.
    var services: [any Service] {
        let (store, readiness, clock, wait) = (store, readiness, clock, settings.deregistration)
        return [
            // 5. Nothing writes any more.
            ShutdownPlan(
                name: "closing",
                clock: clock,
                steps: [
                    .operation("flush usage", grace: .seconds(3)) {
                        try await store.flush()
                    }
                ]
            ),
            // 4. Records of requests that have ended are stored. None is added,
            // since the HTTP server has ended.
            usage.pending.service(grace: .seconds(5), clock: clock),
            // 3. The background work.
            background,
            // 2. The HTTP server closes its port and finishes the requests, which
            // the deadline limits.
            application,
            // 1. The load balancer sends requests elsewhere, while the server still
            // answers.
            ShutdownPlan(
                name: "arrivals",
                clock: clock,
                steps: [
                    .operation("not ready", grace: wait + .seconds(1)) {
                        await readiness.close()
                        try await Task.sleep(for: wait, clock: clock)
                    }
                ]
            ),
        ]
    }
}
