/// A policy that attaches a credential to requests, and obtains a new one when the server rejects the credential.
///
/// ```swift
/// let authenticator = Authenticator.bearer {
///     try await login.request(LoginEndpoint(user: user, password: password)).token     // `login`: a client without authenticator
/// }
/// let client = EndpointClient(baseURL: url, policies: ClientPolicies(authenticator: authenticator))
/// ```
///
/// A response with the status 401 is a rejection, unless a redirect has led to another origin, to which the credential was not sent. Requests
/// that are rejected at the same time share one refresh, and each is sent once more, with the new credential. If the
/// current credential is already newer than the rejected credential, the request is sent once more without a refresh.
/// After a second rejection the call fails with ``HTTPError/Reason/unauthorized``, unless the endpoint's `validate`
/// throws another error.
///
/// With a ``CredentialExpiration``, a credential is renewed before it expires.
///
/// If a refresh fails, all requests that wait for it fail with its error; the next request tries again.
///
/// An authenticator can be shared by several clients of one server. It keeps the credential in memory, and logs nothing.
///
/// ## Cancellation
/// A caller that is cancelled while it waits for a refresh receives `CancellationError` at once. The refresh continues,
/// even if no caller waits for it any more: a server may have replaced the old credential already. Give the refresh a
/// time limit, since while it runs, all requests that need a credential wait for it.
public final class Authenticator: Sendable {
    private let source: any CredentialSource

    /// Creates an authenticator for any kind of credential.
    ///
    /// - Parameters:
    ///   - initial: The first credential; `nil`: the first request calls `refresh` to obtain one.
    ///   - expiration: The rule for when credentials expire, so that they are renewed in advance. By default they are renewed when the server
    ///     rejects them.
    ///   - attach: Puts the credential into a request. An error that it throws fails the call, unchanged. A request that it
    ///     leaves unchanged is not sent: the call throws ``HTTPError/Reason/request``, since Foundation drops a header
    ///     whose value contains a line break or NUL without an error. Only an authenticator whose credential is `Void`,
    ///     such as one whose session is in cookies, may attach nothing.
    ///   - refresh: Gets a new credential, given the rejected or expiring one, or `nil` if there was none. Must not use a client that
    ///     has this authenticator: such a call throws, since it would wait for itself. Runs in a task of its own.
    public init<Credential: Sendable>(
        initial: Credential? = nil,
        expiration: CredentialExpiration<Credential>? = nil,
        attach: @escaping @Sendable (Credential, inout URLRequest) throws -> Void,
        refresh: @escaping @Sendable (_ rejected: Credential?) async throws -> Credential
    ) {
        source = CredentialStorage(initial, expiration: expiration, attach: attach, refresh: refresh)
    }

    /// Returns an authenticator that attaches tokens as `Authorization: Bearer …` (RFC 6750).
    ///
    /// A token that cannot be the value of a header, such as one that ends in the line break of the file that it was
    /// read from, is not sent: the call throws ``HTTPError/Reason/request``.
    ///
    /// - Parameters:
    ///   - initial: The first credential; `nil`: the first request calls `refresh` to obtain one.
    ///   - expiration: The rule for when tokens expire, so that they are renewed in advance. By default they are renewed when the server rejects
    ///     them.
    ///   - refresh: Gets a new token, given the rejected one, or `nil` if there was none. Must not use a client that
    ///     has this authenticator: such a call throws, since it would wait for itself.
    public static func bearer(
        initial: String? = nil,
        expiration: CredentialExpiration<String>? = nil,
        refresh: @escaping @Sendable (_ rejected: String?) async throws -> String
    ) -> Authenticator {
        Authenticator(initial: initial, expiration: expiration) { token, request in
            guard HeaderField.isValid(value: token) else { throw HeaderField.invalidValue(of: "Authorization") }
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        } refresh: { rejected in
            try await refresh(rejected)
        }
    }

    /// Returns an authenticator that attaches tokens as `Authorization: Bearer …` (RFC 6750), and whose refresh does not need the rejected token.
    ///
    /// - Parameters:
    ///   - initial: The first credential; `nil`: the first request calls `refresh` to obtain one.
    ///   - expiration: The rule for when tokens expire, so that they are renewed in advance. By default they are renewed when the server rejects
    ///     them.
    ///   - refresh: Gets a new token. Must not use a client that has this authenticator: such a call throws, since it would wait
    ///     for itself.
    public static func bearer(
        initial: String? = nil,
        expiration: CredentialExpiration<String>? = nil,
        refresh: @escaping @Sendable () async throws -> String
    ) -> Authenticator {
        bearer(initial: initial, expiration: expiration) { _ in try await refresh() }
    }

    /// Discards the credential, so that the next request obtains a new one: for example when a user signs out. The
    /// result of a refresh that is in progress is discarded too.
    public func forget() {
        source.forget()
    }

    /// Attaches the current credential to a request, after obtaining one if there is none.
    ///
    /// - Returns: The serial number of the attached credential.
    /// - Throws: The error of the refresh or of the `attach` closure; ``HTTPError`` with the reason
    ///   ``HTTPError/Reason/request`` if nothing was attached; `CancellationError` if the caller is cancelled.
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
