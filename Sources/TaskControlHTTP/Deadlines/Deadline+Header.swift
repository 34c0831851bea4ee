public import TaskControl

extension Deadline {
    /// Creates the deadline of a request from the value of a header, in a server on any framework.
    ///
    /// ```swift
    /// let header = DeadlineHeader.requestTimeout
    /// if let deadline = Deadline(remaining: request.headers[header.name], in: header) {
    ///     return try await withDeadline(deadline) { try await answer(request) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value of the header; `nil` if the request has none.
    ///   - header: The header, which decides the format.
    ///   - clock: The clock that measures the time.
    /// - Returns: `nil` if there is no value, or if the value does not have the format, which is reported to observers. Handle such a request as one
    ///   without a deadline.
    public init?(remaining value: String?, in header: DeadlineHeader, clock: some Clock<Duration> = ContinuousClock()) {
        guard let value else { return nil }
        guard let duration = header.duration(from: value) else {
            Diagnostics.emit(TaskEvent(.http, .unreadableDeadline, detail: header.name))
            return nil
        }
        self.init(in: duration, clock: clock)
    }
}
