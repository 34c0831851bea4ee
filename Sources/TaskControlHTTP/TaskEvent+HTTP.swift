@_spi(Observers) public import TaskControl

extension TaskEvent.Primitive {
    /// The value of `TaskEvent.primitive` in events of a client of `TaskControlHTTP`, and of its ``EndpointAuthenticator``.
    public static var http: Self { Self("HTTP", [.call]) }
}

extension TaskEvent.Kind {
    /// A server rejected the credential of an ``EndpointAuthenticator``.
    public static var rejected: Self { Self("rejected") }
    /// The value of a received ``DeadlineHeader`` does not have the expected format, and was ignored.
    public static var unreadableDeadline: Self { Self("unreadableDeadline") }
    /// An ``EndpointAuthenticator`` begins to obtain a new credential.
    public static var refreshing: Self { Self("refreshing") }
    /// An ``EndpointAuthenticator`` has obtained a new credential.
    public static var refreshed: Self { Self("refreshed") }
}

extension TaskOrigin {
    static var progressStart: Self { Self("Progress.start", .http) }
}
