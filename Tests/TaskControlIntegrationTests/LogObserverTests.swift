#if Logging && SUBPROCESSES
import InMemoryLogging
import Logging
import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl
@testable import TaskControlTelemetry

/// The lines that arrive at swift-log. Observers are shared by the process, so each test has a process of its own.
@Suite(.timeLimit(.minutes(15)))
struct LogObserverTests {
    @Test(.oneProcessAtATime) func eventsGoToTheLoggersHandlerWithNamesAndFields() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let log = InMemoryLogHandler()
            LoggingSystem.bootstrap { label in
                precondition(label == "TaskControl")
                return log
            }
            TaskDiagnostics.configure(.init(reportsMistakes: false))
            TaskDiagnostics.install(LogObserver(logger: debugLogger()))
            try? await retry(attempts: 2, backoff: .none) { throw MarkedError("lost") }
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
        // Turned off, since it is in the log.
        #expect(!text(result).contains("TaskControl:"))
    }

    @Test(.oneProcessAtATime) func aLoggerThatIsGivenKeepsItsLevel() async throws {
        await #expect(processExitsWith: .success) {
            let log = InMemoryLogHandler()
            let observation = TaskDiagnostics.observe(LogObserver(logger: Logger(label: "mine") { _ in log }))
            _ = AsyncLifetime()
            precondition(log.entries.isEmpty)
            await AsyncTask { throw MarkedError("unheard") }.detached().value
            precondition(log.entries.map(\.message) == ["AsyncTask.unhandledError"])

            var logger = Logger(label: "mine") { _ in log }
            logger.logLevel = .debug
            observation.end()
            TaskDiagnostics.install(LogObserver(logger: logger))
            _ = AsyncLifetime()
            precondition(
                log.entries.map(\.message).suffix(2) == ["AsyncLifetime.created", "AsyncLifetime.deallocated"]
            )
        }
    }

    @Test(.oneProcessAtATime) func textIsRedactedBeforeTheLogSeesIt() async throws {
        await #expect(processExitsWith: .success) {
            let log = InMemoryLogHandler()
            LoggingSystem.bootstrap { _ in log }
            TaskDiagnostics.configure(.init(redact: { $0.contains("hush") ? "…" : $0 }))
            TaskDiagnostics.install(LogObserver(logger: debugLogger()))
            let ended = Collector { $0.primitive == .withSingleFlight && $0.outcome != nil }
            TaskDiagnostics.install(ended)
            await Task(name: "hush task", on: FIFOQueue(name: "hush queue")) {}.value
            _ = try? await withSingleFlight(key: "hush key") { throw MarkedError("hush error") }
            // The flight's end is reported after its callers have been resumed.
            try await ended.wait(until: { !$0.isEmpty })
            precondition(!"\(log.entries)".contains("hush"))
            for name in ["ownerName", "taskName", "key", "error"] {
                precondition(log.entries.contains { $0.metadata[name] == "…" }, name)
            }
        }
    }

    /// A handler that starts a task per line does not receive what it causes on its own thread, and ignores the events of its tasks.
    @Test(.oneProcessAtATime) func aHandlerThatUsesTheLibraryDoesNotGoRoundInCircles() async throws {
        await #expect(processExitsWith: .success) {
            let handler = Busy()
            LoggingSystem.bootstrap { _ in handler }
            TaskDiagnostics.install(LogObserver(logger: debugLogger()))
            let watching = Collector { $0.primitive == .taskBag }
            TaskDiagnostics.install(watching)
            await Task(on: FIFOQueue()) {}.value
            try? await handler.bag.registry.drain()
            let lines = handler.lines.events
            precondition(!lines.contains { $0.hasPrefix("TaskBag.added") }, "\(lines)")
            let others = lines.filter { !$0.hasPrefix("TaskBag.") }
            precondition((3...8).contains(others.count), "\(lines)")
            // The tasks were started, and other observers receive their events.
            precondition(watching.events.filter { $0.kind == .added }.count == others.count)
            precondition(lines.contains("TaskBag.started"))
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
            let line = event.message.description
            lines.record(line)
            if !line.hasPrefix("TaskBag.") { bag.addTask {} }
        }
    }
}

/// A logger of the system's handler that logs all events.
private func debugLogger() -> Logger {
    var logger = Logger(label: "TaskControl")
    logger.logLevel = .debug
    return logger
}
#endif
