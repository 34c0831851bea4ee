#if Logging
internal import Logging

/// Writes each event through swift-log: what happened as the message, and what there is in the event as metadata.
struct SwiftLog: TaskObserver {
    let logger: Logger

    func receive(_ event: TaskEvent) {
        logger.log(
            level: event.isMistake ? .warning : .debug,
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
