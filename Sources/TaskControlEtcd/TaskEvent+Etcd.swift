public import TaskControl

extension TaskEvent.Primitive {
    /// The primitive in events of an ``EtcdStore``.
    public static var etcdStore: Self { Self("EtcdStore", []) }
}

extension TaskEvent.Kind {
    /// An endpoint of an ``EtcdStore`` did not answer, or could not execute a request.
    public static var endpointFailed: Self { Self("endpointFailed") }
    /// An ``EtcdStore`` has obtained an authentication token for its credentials.
    public static var authenticated: Self { Self("authenticated") }
    /// The connection that the watches of an ``EtcdStore`` share has ended. The store opens a new connection.
    public static var watchInterrupted: Self { Self("watchInterrupted") }
}
