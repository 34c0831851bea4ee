internal import Foundation

/// The rule for when credentials expire, so that an ``EndpointAuthenticator`` renews them in time.
struct CredentialExpiration<Credential: Sendable>: Sendable {
    private let date: @Sendable (Credential) -> Date?
    private let margin: Duration
    /// The closure that returns the current time, to which expirations are compared.
    let now: @Sendable () -> Date

    /// - Parameter date: Returns when a credential expires; `nil` if the credentials have no expiration.
    init?(_ date: (@Sendable (Credential) -> Date?)?, margin: Duration, now: @escaping @Sendable () -> Date) {
        guard let date else { return nil }
        (self.date, self.margin, self.now) = (date, margin, now)
    }

    func validity(of credential: Credential) -> CredentialStateMachine<Credential>.Validity? {
        date(credential).map { .init(until: $0, from: now(), margin: margin / .seconds(1)) }
    }
}
