#if Logging && SUBPROCESSES
import InMemoryLogging
import Logging
import TaskControlTesting
import Testing

@testable import TaskControl

/// What arrives at swift-log. The configuration is that of a process, so each test has one.
@Suite(.timeLimit(.minutes(5)))
struct SwiftLogTests {
    @Test func theDebugLogGoesToTheSystemsHandlerWithNamesAndFields() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let log = InMemoryLogHandler()
            LoggingSystem.bootstrap { label in
                precondition(label == "TaskControl")
                return log
            }
            AsyncGuard.configure(.init(debugLogging: true))
            try? await retry(attempts: 2) { throw MarkedError("lost") }
            await AsyncTask(name: "orders") { throw MarkedError("unheard") }.detached().value
            let (entries, error) = (log.entries, #"MarkedError(mark: "lost")"#)
            precondition(entries.prefix(2).map(\.message) == ["retry.failed", "retry.waiting"])
            precondition("\(entries[0].metadata["attempt"]!)" == "1" && entries[0].metadata["error"] == .string(error))
            precondition("\(entries[1].metadata["delay"]!)" == "0.0 seconds" && entries[0].metadata["subject"] != nil)
            precondition(entries.contains { $0.message == "AsyncTask.created" && $0.metadata["taskName"] == "orders" })
            let mistakes = entries.filter { $0.level == .warning }
            precondition(mistakes.map(\.message) == ["AsyncTask.unhandledError"])
            precondition(entries.allSatisfy { $0.level == .debug || $0.level == .warning })
        }
        // What is in a log is not printed besides.
        #expect(!text(result).contains("TaskControl:"))
    }

    @Test func aLoggerThatIsGivenKeepsItsLevel() async throws {
        await #expect(processExitsWith: .success) {
            let log = InMemoryLogHandler()
            AsyncGuard.configure(.init(logger: Logger(label: "mine") { _ in log }))
            _ = AsyncLifetime()
            precondition(log.entries.isEmpty)
            await AsyncTask { throw MarkedError("unheard") }.detached().value
            precondition(log.entries.map(\.message) == ["AsyncTask.unhandledError"])

            var logger = Logger(label: "mine") { _ in log }
            logger.logLevel = .debug
            AsyncGuard.configure(.init(logger: logger))
            _ = AsyncLifetime()
            precondition(
                log.entries.map(\.message).suffix(2) == ["AsyncLifetime.created", "AsyncLifetime.deallocated"]
            )
        }
    }

    @Test func textIsRedactedBeforeTheLogSeesIt() async throws {
        await #expect(processExitsWith: .success) {
            let log = InMemoryLogHandler()
            LoggingSystem.bootstrap { _ in log }
            AsyncGuard.configure(.init(debugLogging: true, redact: { $0.contains("hush") ? "…" : $0 }))
            await Task(name: "hush task", on: FIFOQueue(name: "hush queue")) {}.value
            _ = try? await withSingleFlight(key: "hush key") { throw MarkedError("hush error") }
            precondition(!"\(log.entries)".contains("hush"))
            for name in ["ownerName", "taskName", "key", "error"] {
                precondition(log.entries.contains { $0.metadata[name] == "…" }, name)
            }
        }
    }

    /// A handler that answers each line with tasks does not hear its own echo.
    @Test func aHandlerThatUsesTheLibraryDoesNotGoRoundInCircles() async throws {
        await #expect(processExitsWith: .success) {
            let handler = Busy()
            LoggingSystem.bootstrap { _ in handler }
            AsyncGuard.configure(.init(debugLogging: true))
            let watching = Collector { $0.primitive == .taskBag }
            AsyncGuard.addObserver(watching)
            await Task(on: FIFOQueue()) {}.value
            try? await handler.bag.registry.drain()
            precondition(handler.lines.events.allSatisfy { !$0.hasPrefix("TaskBag.added") })
            precondition((3...8).contains(handler.lines.count), "\(handler.lines.events)")
            // The tasks were made, and others are told of them.
            precondition(watching.events.filter { $0.kind == .added }.count == handler.lines.count)
        }
    }

    private struct Busy: LogHandler {
        let bag = TaskBag()
        let lines = OrderRecorder<String>()
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug
        var metadataProvider: Logger.MetadataProvider?

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            // Those of the drain of the test aside.
            guard !event.message.description.hasPrefix("TaskBag.dra") else { return }
            lines.record(event.message.description)
            bag.addTask {}
        }
    }
}
#endif
