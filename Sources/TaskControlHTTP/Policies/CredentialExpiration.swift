/// The expiration of credentials, so that an ``Authenticator`` renews them in time.
///
/// ```swift
/// Authenticator(expiration: CredentialExpiration(\.expires)) { token, request in … } refresh: { _ in try await login()
/// }
/// ```
///
/// A credential that expires within ``margin`` is renewed before the next request, which waits for it. If that fails,
/// the credential is used until it has expired. So a request is rarely rejected; a rejected request is handled as
/// without an expiration.
public struct CredentialExpiration<Credential: Sendable>: Sendable {
    private let date: @Sendable (Credential) -> Date?

    /// The time before its expiration at which a credential is renewed, but not before half of its life.
    public let margin: Duration

    /// Returns the current time.
    let now: @Sendable () -> Date

    /// Creates a rule for credentials that contain their expiration.
    ///
    /// - Parameters:
    ///   - margin: The time before its expiration at which a credential is renewed. By default 60 seconds: as long as a request
    ///     and a difference between the clocks usually need. A negative margin counts as 0.
    ///   - now: The time, for tests. By default that of the system.
    ///   - date: Returns when a credential expires; `nil`: it is not known.
    public init(
        margin: Duration = .seconds(60),
        now: @escaping @Sendable () -> Date = { Date() },
        _ date: @escaping @Sendable (Credential) -> Date?
    ) {
        self.margin = margin
        self.now = now
        self.date = date
    }

    func validity(of credential: Credential) -> CredentialStateMachine<Credential>.Validity? {
        date(credential).map { .init(until: $0, from: now(), margin: margin / .seconds(1)) }
    }
}
