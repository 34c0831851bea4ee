/// A user of etcd, whose name and password an ``EtcdStore`` exchanges for a token.
///
/// The user needs the permission to read and write all keys of the store's namespace.
///
/// ``description`` and `dump` show neither the name nor the password.
public struct EtcdCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    let user: String
    let password: String

    /// Creates credentials from a user name and a password.
    ///
    /// - Parameters:
    ///   - user: The name of the user.
    ///   - password: The password of the user.
    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The name of the type. It contains neither the user nor the password.
    public var description: String { "EtcdCredentials(…)" }

    /// A mirror without children, so that `dump` shows neither the name nor the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
