import ArgumentParser
import Logging
import ServiceLifecycle
import TaskControl
import TaskControlSnapshot
import TaskControlTrace
import UnixSignals

@main
struct PricesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prices",
        abstract: "Serves prices of a slow supplier, and shows what its tasks do at /debug/tasks and /debug/trace."
    )

    @Option(help: "The port on 127.0.0.1.") var port = 8080
    @Option(help: "The milliseconds that each call of the supplier takes.") var latency = 300
    @Option(help: "The share of the calls of the supplier that fail, from 0 to 1.") var unreliable = 0.0
    @Option(help: "The seconds for which the server answers after SIGTERM while /health has the status 503.")
    var deregistration = 0

    func run() async throws {
        // First of all: tasks that are older do not appear.
        TaskSnapshot.startTracking()
        let recorder = TraceRecorder(capacity: 50_000)
        TaskDiagnostics.install(recorder)

        let logger = Logger(label: "prices")
        let server = PricesServer(
            settings: PricesServer.Settings(port: port, deregistration: .seconds(deregistration)),
            supplier: SimulatedSupplier(latency: .milliseconds(latency), failureRate: unreliable),
            store: UsageTotals(logger: logger),
            recorder: recorder,
            logger: logger
        )
        var configuration = ServiceGroupConfiguration(
            services: server.services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // More than all graces together, and less than the 30 seconds after which
        // Kubernetes kills the process.
        configuration.maximumGracefulShutdownDuration = .seconds(25)
        try await ServiceGroup(configuration: configuration).run()
    }
}
