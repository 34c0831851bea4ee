#if Logging
public import Logging
public import TaskControl
internal import TaskControlSupport

/// Logs the events of all primitives through swift-log.
///
/// ```swift
/// LoggingSystem.bootstrap(myBackend)
/// TaskDiagnostics.install(LogObserver(logger: Logger(label: "orders.tasks")))
/// ```
///
/// The message is the name of the event, and its fields are the metadata. The level is `debug`, or `warning` for a probable mistake in the
/// program: see `TaskEvent.severity`. The default level of swift-log is `info`, so only mistakes are logged; set the level of the logger to
/// `debug` to see all events.
///
/// Mistakes are also written to the system's log, unless you turn that off: `TaskDiagnostics.configure(.init(reportsMistakes: false))`.
///
/// A log handler that starts tasks of this library must not log the events of these tasks, since each log entry would cause further events:
/// see `TaskObserver.receive(_:)`.
public struct LogObserver: TaskObserver {
    private let logger: Logger

    /// Creates an observer, for `TaskDiagnostics.observe(_:)`.
    ///
    /// - Parameter logger: The logger. Its level decides which events are logged.
    public init(logger: Logger) {
        self.logger = logger
    }

    /// Logs an event. Called by the library.
    public func receive(_ event: TaskEvent) {
        logger.log(
            level: event.severity == .warning ? .warning : .debug,
            "\(event.name)",
            metadata: event.metadata,
            source: "TaskControl"
        )
    }
}

extension TaskEvent {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        forEachField { name, field in
            metadata[name] =
                switch field {
                case .text(let text): .string(text)
                case .number(let number): .stringConvertible(number)
                case .duration(let duration): .stringConvertible(duration)
                case .flag(let flag): .stringConvertible(flag)
                }
        }
        return metadata
    }
}
#endif
