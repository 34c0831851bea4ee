public import TaskControl

extension Deadline {
    /// Creates the deadline of a request that a server has received, from the value of the request's header. The time
    /// until the deadline is counted from this call.
    ///
    /// ```swift
    /// let header = DeadlineHeader.requestTimeout
    /// if let deadline = Deadline(remaining: request.headers[header.name], in: header) {
    ///     return try await withDeadline(deadline) { try await answer(request) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value of the header; `nil` if the request has no such header.
    ///   - header: The header, which determines the format of the value.
    ///   - clock: The clock that measures the time until the deadline.
    /// - Returns: The deadline; `nil` if `value` is `nil` or does not have the format of the header. In both cases,
    ///   handle the request without a deadline. A value in another format is also reported to the observers of
    ///   diagnostics.
    public init?(remaining value: String?, in header: DeadlineHeader, clock: some Clock<Duration> = ContinuousClock()) {
        guard let value else { return nil }
        guard let duration = header.duration(from: value) else {
            Diagnostics.emit(TaskEvent(.http, .unreadableDeadline, detail: header.name))
            return nil
        }
        self.init(in: duration, clock: clock)
    }
}
