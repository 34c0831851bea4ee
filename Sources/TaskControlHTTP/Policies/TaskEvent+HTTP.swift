public import TaskControl

extension TaskEvent.Primitive {
    /// A client of `TaskControlHTTP`, or its authenticator.
    public static var http: Self { Self("HTTP", [.call]) }
}

extension TaskEvent.Kind {
    /// The server rejected the credential.
    public static var rejected: Self { Self("rejected") }
    /// The value of a header for deadlines does not have the expected format, and was ignored.
    public static var unreadableDeadline: Self { Self("unreadableDeadline") }
    /// A new credential is being obtained.
    public static var refreshing: Self { Self("refreshing") }
    /// A new credential was obtained.
    public static var refreshed: Self { Self("refreshed") }
}

extension TaskOrigin {
    static var progressStart: Self { Self("Progress.start", .http) }
    static var contentLoader: Self { Self("ContentLoader", .taskStore) }
}
