public import TaskControl

extension TaskEvent.Primitive {
    /// An ``EtcdStore``.
    public static var etcdStore: Self { Self("EtcdStore", []) }
}

extension TaskEvent.Kind {
    /// An endpoint of a store did not answer, or could not execute a request.
    public static var endpointFailed: Self { Self("endpointFailed") }
    /// A store has obtained a token for its credentials.
    public static var authenticated: Self { Self("authenticated") }
    /// The connection of a watch has ended, and is made again while there are watchers.
    public static var watchInterrupted: Self { Self("watchInterrupted") }
}
