extension EtcdStore {
    /// A user of etcd, whose name and password an ``EtcdStore`` exchanges for a token.
    ///
    /// The user needs the permission to read and write all keys of the store's namespace.
    ///
    /// The name, the password and the token are sent to all endpoints of the store. If one of them is not `https`, each
    /// operation of the store throws `StoreError` with the reason `StoreError.Reason.refused`, unless the credentials
    /// permit it.
    ///
    /// ``description`` and `dump` show neither the name nor the password.
    public struct Credentials: Sendable, CustomStringConvertible, CustomReflectable {
        let user: String
        let password: String
        let allowsCleartext: Bool

        /// Creates credentials from a user name and a password.
        ///
        /// - Parameters:
        ///   - user: The name of the user.
        ///   - password: The password of the user.
        ///   - allowsCleartext: Whether the password and the token may be sent to endpoints that are not `https`, where
        ///     each machine on the way can read them. Only for a cluster on this machine, or behind a tunnel.
        public init(user: String, password: String, allowsCleartext: Bool = false) {
            self.user = user
            self.password = password
            self.allowsCleartext = allowsCleartext
        }

        /// The name of the type. It contains neither the user nor the password.
        public var description: String { "EtcdStore.Credentials(…)" }

        /// A mirror without children, so that `dump` shows neither the name nor the password.
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }
}
