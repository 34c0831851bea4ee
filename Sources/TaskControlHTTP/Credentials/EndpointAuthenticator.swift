public import Foundation

/// A policy that attaches a credential to requests, and obtains a new one when the server rejects the credential.
///
/// ```swift
/// // `login` is a client without an authenticator.
/// let authenticator = EndpointAuthenticator.bearer {
///     try await login.request(LoginEndpoint(user: user, password: password)).token
/// }
/// let client = EndpointClient(baseURL: url, policies: ClientPolicies(authenticator: authenticator))
/// ```
///
/// A response with the status 401 is a rejection, except from another origin (scheme, host and port) after a redirect:
/// the credential was not sent there. Requests that are rejected at the same time share one refresh (a call of the
/// `refresh` closure, which obtains a new credential), and each is sent once more, with the new credential. If the
/// authenticator already has a newer credential than the rejected one, the request is sent once more without a refresh.
/// After a second rejection the call fails with ``EndpointError/Reason/unauthorized``, unless the endpoint's `validate`
/// throws another error. A request whose body can be sent only once fails in this way after its first rejection.
///
/// If the first refresh or one after a rejection fails, all requests that wait for it fail with its error, and the next
/// request begins another refresh.
///
/// ## Expiration
/// With an `expirationDate`, a refresh also begins before the credential expires:
///
/// ```swift
/// struct Session: Sendable {
///     let token: String
///     let expires: Date
/// }
///
/// let authenticator = EndpointAuthenticator(expirationDate: { (session: Session) in session.expires }) { session, request in
///     request.setValue("Bearer \(session.token)", forHTTPHeaderField: "Authorization")
/// } refresh: { _ in
///     Session(token: try await login.get("token", as: String.self), expires: .now + 3_600)
/// }
/// ```
///
/// The next request waits for that refresh. If it fails, the request is sent with the old credential, unless that has
/// expired: then the call of the client throws the error of the refresh. Each further request tries again.
///
/// An authenticator can be shared by several clients of one server. It keeps the credential in memory, and logs
/// nothing.
///
/// ## Cancellation
/// A caller that is cancelled while it waits for a refresh receives `CancellationError` at once. The refresh continues,
/// even if no caller waits for it any more: a server may have replaced the old credential already. While it runs, all
/// requests that need a new credential wait for it, so it has a time limit, the `refreshTimeout` of the initializer. At the
/// limit it is cancelled and awaited, and these requests fail with `TimeoutError`; those that only renew a credential that
/// has not expired are sent with it.
public final class EndpointAuthenticator: Sendable {
    private let source: any CredentialSource

    /// Creates an authenticator for any kind of credential.
    ///
    /// - Parameters:
    ///   - initial: The first credential; `nil`: the first request calls `refresh` to obtain one.
    ///   - expirationDate: Returns when a credential expires, so that it is renewed before; `nil` if that is not known: the
    ///     credential is then renewed only when the server rejects it. `nil`, the default: no credential has a known expiration.
    ///   - expirationMargin: The time before the expiration from which on a credential is renewed. By default 60 seconds: longer
    ///     than a request usually takes, and longer than the usual difference between the clocks of client and server. If a
    ///     new credential expires in less than twice this time, the half of its remaining time is used in place of the margin:
    ///     otherwise each request would renew it. A negative margin counts as 0.
    ///   - wallClock: Returns the current time. By default the time of the system; pass another closure in tests.
    ///   - refreshTimeout: The longest time that a refresh may take. By default 30 seconds, the time that the standard
    ///     handler of Microsoft.Extensions.Http.Resilience gives to a call with all of its attempts. `nil`: no limit.
    ///   - clock: Measures `refreshTimeout`.
    ///   - attach: Puts the credential into a request. If this closure throws, the call of the client throws the same
    ///     error. If it does not change the request, nothing is sent, and the call of the client throws
    ///     ``EndpointError/Reason/request``: the credential was probably lost, since Foundation silently drops a header
    ///     whose value contains a line break or NUL. Exception: with a credential of type `Void`, for example for a
    ///     session in cookies, the unchanged request is sent.
    ///   - refresh: Gets a new credential. Receives the rejected or expiring credential; `nil` if there was none. Runs
    ///     in a task of its own. Must not use a client that has this authenticator: a request that needs the new
    ///     credential would wait for itself, and fails with ``EndpointError/Reason/request`` instead.
    public init<Credential: Sendable>(
        initial: Credential? = nil,
        expirationDate: (@Sendable (Credential) -> Date?)? = nil,
        expirationMargin: Duration = .seconds(60),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        refreshTimeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        attach: @escaping @Sendable (Credential, inout URLRequest) throws -> Void,
        refresh: @escaping @Sendable (_ rejected: Credential?) async throws -> Credential
    ) {
        source = CredentialStorage(
            initial,
            expiration: CredentialExpiration(expirationDate, margin: expirationMargin, now: wallClock),
            refreshTimeout: refreshTimeout,
            clock: clock,
            attach: attach,
            refresh: refresh
        )
    }

    /// Returns an authenticator that attaches tokens as `Authorization: Bearer …` (RFC 6750).
    ///
    /// A token that is empty, or cannot be the value of a header, such as one that ends in the line break of the file
    /// that it was read from, is not sent: the call of the client throws ``EndpointError/Reason/request``.
    ///
    /// - Parameters:
    ///   - initial: The first token; `nil` or empty: the first request calls `refresh` to obtain one.
    ///   - expirationDate: Returns when a token expires, so that it is renewed before; `nil` if that is not known: the
    ///     token is then renewed only when the server rejects it. `nil`, the default: no token has a known expiration.
    ///   - expirationMargin: The time before the expiration from which on a token is renewed. By default 60 seconds: longer
    ///     than a request usually takes, and longer than the usual difference between the clocks of client and server. If a
    ///     new token expires in less than twice this time, the half of its remaining time is used in place of the margin:
    ///     otherwise each request would renew it. A negative margin counts as 0.
    ///   - wallClock: Returns the current time. By default the time of the system; pass another closure in tests.
    ///   - refreshTimeout: The longest time that a refresh may take. By default 30 seconds. `nil`: no limit.
    ///   - clock: Measures `refreshTimeout`.
    ///   - refresh: Gets a new token. Receives the rejected or expiring token; `nil` if there was none. Runs in a task
    ///     of its own. Must not use a client that has this authenticator: a request that needs the new token would wait
    ///     for itself, and fails with ``EndpointError/Reason/request`` instead.
    public static func bearer(
        initial: String? = nil,
        expirationDate: (@Sendable (String) -> Date?)? = nil,
        expirationMargin: Duration = .seconds(60),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        refreshTimeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        refresh: @escaping @Sendable (_ rejected: String?) async throws -> String
    ) -> EndpointAuthenticator {
        let initial = initial.flatMap { $0.isEmpty ? nil : $0 }
        return EndpointAuthenticator(
            initial: initial,
            expirationDate: expirationDate,
            expirationMargin: expirationMargin,
            wallClock: wallClock,
            refreshTimeout: refreshTimeout,
            clock: clock
        ) { token, request in
            guard !token.isEmpty, HeaderField.isValid(value: token) else {
                throw HeaderField.invalidValue(of: "Authorization")
            }
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        } refresh: { rejected in
            try await refresh(rejected)
        }
    }

    /// Returns an authenticator that attaches tokens as `Authorization: Bearer …` (RFC 6750), with a `refresh` closure
    /// that does not receive the rejected token.
    ///
    /// - Parameters:
    ///   - initial: The first token; `nil` or empty: the first request calls `refresh` to obtain one.
    ///   - expirationDate: Returns when a token expires, so that it is renewed before; `nil` if that is not known: the
    ///     token is then renewed only when the server rejects it. `nil`, the default: no token has a known expiration.
    ///   - expirationMargin: The time before the expiration from which on a token is renewed. By default 60 seconds: longer
    ///     than a request usually takes, and longer than the usual difference between the clocks of client and server. If a
    ///     new token expires in less than twice this time, the half of its remaining time is used in place of the margin:
    ///     otherwise each request would renew it. A negative margin counts as 0.
    ///   - wallClock: Returns the current time. By default the time of the system; pass another closure in tests.
    ///   - refreshTimeout: The longest time that a refresh may take. By default 30 seconds. `nil`: no limit.
    ///   - clock: Measures `refreshTimeout`.
    ///   - refresh: Gets a new token. Runs in a task of its own. Must not use a client that has this authenticator: a
    ///     request that needs the new token would wait for itself, and fails with ``EndpointError/Reason/request`` instead.
    public static func bearer(
        initial: String? = nil,
        expirationDate: (@Sendable (String) -> Date?)? = nil,
        expirationMargin: Duration = .seconds(60),
        wallClock: @escaping @Sendable () -> Date = { Date() },
        refreshTimeout: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        refresh: @escaping @Sendable () async throws -> String
    ) -> EndpointAuthenticator {
        bearer(
            initial: initial,
            expirationDate: expirationDate,
            expirationMargin: expirationMargin,
            wallClock: wallClock,
            refreshTimeout: refreshTimeout,
            clock: clock
        ) { _ in
            try await refresh()
        }
    }

    /// Discards the credential, for example when a user signs out: the next request calls the `refresh` closure to
    /// obtain a new one. If that closure is already running, its result is discarded too, and it is called again for
    /// the requests that wait for it.
    public func forget() {
        source.forget()
    }

    /// Attaches the current credential to a request, unless another one must be obtained before.
    ///
    /// - Returns: The serial number of the attached credential; `nil` if the caller must call `attach(to:)`.
    /// - Throws: The errors of `attach(to:)`.
    func attachNow(to request: inout URLRequest) throws -> CredentialSerial? {
        try source.attachNow(to: &request)
    }

    /// Attaches the current credential to a request, after obtaining one if there is none.
    ///
    /// - Returns: The serial number of the attached credential.
    /// - Throws: The error of the refresh or of the `attach` closure; ``EndpointError`` with the reason
    ///   ``EndpointError/Reason/request`` if nothing was attached; `CancellationError` if the caller is cancelled.
    func attach(to request: inout URLRequest) async throws -> CredentialSerial {
        try await source.attach(to: &request)
    }

    /// Records that the server rejected a credential, so that the next request obtains a new one.
    ///
    /// - Parameter serial: The serial number of the rejected credential. The call has no effect if the credential has
    ///   been replaced since.
    func reject(_ serial: CredentialSerial) {
        source.reject(serial)
    }
}
