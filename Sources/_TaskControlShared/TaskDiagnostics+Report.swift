public import TaskControl

extension TaskDiagnostics {
    /// Emits an event with the severity `warning`, and writes a line to the system's log as for a mistake in the
    /// program (see `TaskDiagnostics.Configuration.reportsMistakes`).
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - primitive: The primitive of the event.
    ///   - sentence: The text of the line, without data of the program.
    ///   - details: The detail of the event, and the end of the line: may contain data of the program.
    public static func report(
        _ kind: TaskEvent.Kind,
        _ primitive: TaskEvent.Primitive,
        sentence: String,
        details: String
    ) {
        struct Details: EventDescribable {
            let eventText: String
        }
        let event = TaskEvent(primitive, kind, detail: details)
        Diagnostics.report(event, error: Details(eventText: details), advice: sentence)
    }

    /// Returns a time limit, or the shortest one that is allowed. The first shorter one of each parameter is reported.
    ///
    /// - Parameters:
    ///   - value: The limit.
    ///   - shortest: The shortest limit.
    ///   - parameter: The function and its parameter as they are spelled in code.
    ///   - primitive: The primitive of the event that reports the number.
    public static func limit(
        _ value: Duration,
        atLeast shortest: Duration,
        _ parameter: StaticString,
        _ primitive: TaskEvent.Primitive
    ) -> Duration {
        ComputedNumber.duration(value, atLeast: shortest, parameter, primitive)
    }
}
