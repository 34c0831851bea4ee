/// The rule for when credentials expire, so that an ``EndpointAuthenticator`` renews them in time.
///
/// ```swift
/// EndpointAuthenticator(expiration: CredentialExpiration(\.expires)) { token, request in … } refresh: { _ in
///     try await login()
/// }
/// ```
///
/// A credential that expires within ``margin`` is renewed before the next request, which waits for the renewal. If the
/// renewal fails, the request is sent with the old credential, unless that has expired: then the call of the client
/// throws the error of the renewal. Each further request tries the renewal again.
///
/// If the server rejects a credential before it expires, the ``EndpointAuthenticator`` renews it as it does without this rule.
public struct CredentialExpiration<Credential: Sendable>: Sendable {
    private let date: @Sendable (Credential) -> Date?

    /// The time before the expiration of a credential from which on the credential is renewed. If a new credential
    /// expires in less than twice this time, the half of its remaining time is used in place of the margin: otherwise
    /// each request would renew it.
    public let margin: Duration

    /// The closure that returns the current time, to which expirations are compared.
    let now: @Sendable () -> Date

    /// Creates a rule for credentials that contain their expiration.
    ///
    /// - Parameters:
    ///   - margin: The time before the expiration of a credential from which on the credential is renewed; see
    ///     ``margin``. By default 60 seconds: longer than a request usually takes, and longer than the usual difference
    ///     between the clocks of client and server. A negative margin counts as 0.
    ///   - now: Returns the current time. By default the time of the system; pass another closure in tests.
    ///   - date: Returns when a credential expires; `nil` if that is not known: the credential is then renewed only
    ///     when the server rejects it.
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
