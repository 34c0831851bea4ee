#if Logging
public import Logging
public import TaskControl
internal import _TaskControlShared

/// An observer that logs the diagnostic events of TaskControl with swift-log.
///
/// ```swift
/// LoggingSystem.bootstrap(myBackend)
/// TaskDiagnostics.install(LogObserver(logger: Logger(label: "orders.tasks")))
/// ```
///
/// The log message is the name of the event, and the metadata contains the fields of the event. The level is `debug`,
/// or `warning` if the event reports a probable mistake in the program: see `TaskEvent.severity`. By default, only
/// mistakes are logged, since the default level of swift-log is `info`. Set the logger's level to `debug` to log all
/// events.
///
/// TaskControl itself also writes mistakes to the system's log. To turn that off, call
/// `TaskDiagnostics.configure(.init(reportsMistakes: false))`.
///
/// If a log handler starts tasks with TaskControl, it must not log the events of these tasks, since each log entry
/// would cause further events: see `TaskObserver.receive(_:)`.
public struct LogObserver: TaskObserver {
    private let logger: Logger

    /// Creates an observer. Pass it to `TaskDiagnostics.observe(_:)` or `TaskDiagnostics.install(_:)`.
    ///
    /// - Parameter logger: The logger that receives the events. Its level decides which events are logged.
    public init(logger: Logger) {
        self.logger = logger
    }

    /// Logs an event. Called by TaskControl.
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
