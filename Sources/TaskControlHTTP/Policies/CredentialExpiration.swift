/// The rule for when credentials expire, so that an ``Authenticator`` renews them in time.
///
/// ```swift
/// Authenticator(expiration: CredentialExpiration(\.expires)) { token, request in … } refresh: { _ in
///     try await login()
/// }
/// ```
///
/// A credential that expires within ``margin`` is renewed before the next request, which waits for the renewal. If the
/// renewal fails, the credential is used until it has expired. So a request is rarely rejected; if the server rejects
/// a request nevertheless, the ``Authenticator`` renews the credential as it does without an expiration.
public struct CredentialExpiration<Credential: Sendable>: Sendable {
    private let date: @Sendable (Credential) -> Date?

    /// The time before the expiration of a credential at which the credential is renewed. A credential that is obtained
    /// less than twice the margin before its expiration is renewed in the middle of the remaining time.
    public let margin: Duration

    /// The closure that returns the current time, to which expirations are compared.
    let now: @Sendable () -> Date

    /// Creates a rule for credentials that contain their expiration.
    ///
    /// - Parameters:
    ///   - margin: The time before the expiration of a credential at which the credential is renewed. By default 60
    ///     seconds: longer than a request usually takes, and than the clocks of client and server usually differ. A
    ///     negative margin counts as 0.
    ///   - now: Returns the current time. By default the time of the system; another one is for tests.
    ///   - date: Returns when a credential expires. `nil` if that is not known: the credential is then renewed only
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
