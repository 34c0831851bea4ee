/// When credentials expire, so that an ``Authenticator`` renews them before.
///
/// ```swift
/// Authenticator(expiration: CredentialExpiration(\.expires)) { token, request in … } refresh: { _ in try await login()
/// }
/// ```
///
/// A credential that expires within ``margin`` is renewed before the next request, which waits for it. If that fails,
/// the credential is used until it has expired. So a request rarely meets a rejection; one that does is handled as
/// before.
public struct CredentialExpiration<Credential: Sendable>: Sendable {
    private let date: @Sendable (Credential) -> Date?

    /// How long before its expiration a credential is renewed, but not before half of its life.
    public let margin: Duration

    /// The time.
    let now: @Sendable () -> Date

    /// An expiration that credentials contain.
    ///
    /// - Parameters:
    ///   - margin: How long before its expiration a credential is renewed. By default 60 seconds: as long as a request
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
