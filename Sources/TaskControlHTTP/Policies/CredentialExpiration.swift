/// The rule for when credentials expire, so that an ``Authenticator`` renews them in time.
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

    /// The time before its expiration at which a credential is renewed, but never during the first half of its
    /// lifetime.
    public let margin: Duration

    /// The closure that returns the current time, with which expirations are compared.
    let now: @Sendable () -> Date

    /// Creates a rule for credentials that contain their expiration.
    ///
    /// - Parameters:
    ///   - margin: The time before its expiration at which a credential is renewed. By default 60 seconds: enough for a
    ///     request and for the usual difference between two clocks. A negative margin counts as 0.
    ///   - now: Returns the current time. By default the time of the system; another one is for tests.
    ///   - date: Returns when a credential expires; `nil` if that is not known.
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
