/// Attaches a credential to requests, and gets a new one when the server rejects it.
///
/// ```swift
/// let authenticator = Authenticator.bearer { _ in
///     try await login.request(LoginEndpoint(user: user, password: password)).token     // `login`: a client without authenticator
/// }
/// let client = EndpointClient(baseURL: url, policies: ClientPolicies(authenticator: authenticator))
/// ```
///
/// A response with the status 401 is a rejection, unless a redirect has led to another origin, which was not shown the credential. However
/// many requests meet one, there is one refresh for all of them, and each is sent once more, with the new credential. One that was sent
/// with an older credential than the current one is sent once more without a refresh. A second rejection is not answered: the call fails
/// with ``HTTPError/Reason/unauthorized``, unless the endpoint's `validate` has its own words for it.
///
/// A refresh that fails fails all who wait for it with its error; the next request tries again.
///
/// It can be shared by several clients of one server. It keeps the credential in memory, and logs nothing.
///
/// ## Cancellation
/// A caller that is cancelled leaves at once. The refresh goes on, even if everybody has left: a server may have replaced the old
/// credential already. So give it a time limit: while it lasts, whoever needs a credential waits for it.
public final class Authenticator: Sendable {
    private let source: any CredentialSource

    /// Attaches any kind of credential.
    ///
    /// - Parameters:
    ///   - initial: What to begin with; `nil`: the first request gets one by `refresh`.
    ///   - attach: Puts the credential into a request. What it throws fails the call, as it is. A request that it leaves unchanged is not
    ///     sent: the call throws ``HTTPError/Reason/request``, since Foundation drops a header whose value contains a line break or NUL
    ///     without an error. Only an authenticator whose credential is `Void`, such as one whose session is in cookies, may attach nothing.
    ///   - refresh: Gets a new credential, given the rejected one, or `nil` if there was none. Not by a client that has this authenticator:
    ///     that would wait for itself, and throws. Runs in a task of its own.
    public init<Credential: Sendable>(
        initial: Credential? = nil,
        attach: @escaping @Sendable (Credential, inout URLRequest) throws -> Void,
        refresh: @escaping @Sendable (_ rejected: Credential?) async throws -> Credential
    ) {
        source = CredentialStorage(initial, attach: attach, refresh: refresh)
    }

    /// Attaches tokens as `Authorization: Bearer …` (RFC 6750).
    ///
    /// A token that cannot be the value of a header, such as one that ends in the line break of the file that it was read from, is not sent:
    /// the call throws ``HTTPError/Reason/request``.
    ///
    /// - Parameters:
    ///   - initial: What to begin with; `nil`: the first request gets one by `refresh`.
    ///   - refresh: Gets a new token, given the rejected one, or `nil` if there was none. Not by a client that has this authenticator.
    public static func bearer(
        initial: String? = nil,
        refresh: @escaping @Sendable (_ rejected: String?) async throws -> String
    ) -> Authenticator {
        Authenticator(initial: initial) { token, request in
            guard HeaderField.isValid(value: token) else { throw HeaderField.invalidValue(of: "Authorization") }
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        } refresh: { rejected in
            try await refresh(rejected)
        }
    }

    /// Lets go of the credential: the next request gets a new one. For somebody who signs out.
    public func forget() {
        source.forget()
    }

    /// Puts the current credential into a request, after getting one if there is none, and returns which it was.
    func attach(to request: inout URLRequest) async throws -> CredentialSerial {
        try await source.attach(to: &request)
    }

    /// Notes that the server rejected a credential.
    func reject(_ serial: CredentialSerial) {
        source.reject(serial)
    }
}

/// What an ``Authenticator`` does, whatever its credentials are.
private protocol CredentialSource: Sendable {
    func attach(to request: inout URLRequest) async throws -> CredentialSerial
    func reject(_ serial: CredentialSerial)
    func forget()
}

/// A type of its own, so that a flight of the refresh's own making is told apart.
private struct RefreshKey: Hashable, Sendable, CustomStringConvertible {
    let serial: CredentialSerial

    var description: String { "refresh" }
}

private final class CredentialStorage<Credential: Sendable>: CredentialSource {
    private let state: Locked<CredentialStateMachine<Credential>>
    private let refreshes = SingleFlight<RefreshKey, Void>(abandonment: .runToCompletion)
    private let attach: @Sendable (Credential, inout URLRequest) throws -> Void
    private let refresh: @Sendable (Credential?) async throws -> Credential

    init(
        _ initial: Credential?,
        attach: @escaping @Sendable (Credential, inout URLRequest) throws -> Void,
        refresh: @escaping @Sendable (Credential?) async throws -> Credential
    ) {
        state = Locked(CredentialStateMachine(initial))
        self.attach = attach
        self.refresh = refresh
    }

    func attach(to request: inout URLRequest) async throws -> CredentialSerial {
        while true {
            switch state.withLock({ $0.use() }) {
            case .attach(let credential, let serial):
                let bare = request
                try attach(credential, &request)
                if request.isSent(like: bare), Credential.self != Void.self { throw Self.attachedNothing }
                return serial
            case .refresh(let serial):
                do {
                    try await refreshes.run(RefreshKey(serial: serial)) { [self] in try await renew(serial) }
                } catch SingleFlightError.reentrant(let key) where key is RefreshKey {
                    throw HTTPError(
                        .request,
                        detail:
                            "the authenticator's refresh used a client that has this authenticator, and would have waited for itself: "
                            + "use one without it"
                    )
                }
            }
        }
    }

    /// Silence here would be a request without a credential, a 401, and a refresh that changes nothing.
    private static var attachedNothing: HTTPError {
        HTTPError(
            .request,
            detail:
                "the authenticator's attach closure left the request unchanged: Foundation drops a header whose value contains a line break "
                + "or NUL. Check the credential"
        )
    }

    private func renew(_ serial: CredentialSerial) async throws {
        // Whoever comes when a refresh has just ended finds it done.
        guard case .refresh(let rejected) = state.withLock({ $0.begin(serial) }) else { return }
        let told = Diagnostics.isOn ? CallEvents(.http, .refreshing) : nil
        do {
            let new = try await refresh(rejected)
            let old = state.withLock { $0.refreshed(serial, new) }
            withExtendedLifetime(old) {}
            told?.end(.refreshed)
        } catch {
            told?.end(.failed, error: error)
            throw error
        }
    }

    func reject(_ serial: CredentialSerial) {
        state.withLock { $0.reject(serial) }
    }

    func forget() {
        let old = state.withLock { $0.forget() }
        withExtendedLifetime(old) {}
    }
}

extension URLRequest {
    /// Whether what is sent is the same. Equality of requests is not that: Foundation on Linux does not look at the headers.
    fileprivate func isSent(like other: URLRequest) -> Bool {
        url == other.url && allHTTPHeaderFields == other.allHTTPHeaderFields && httpMethod == other.httpMethod
            && httpBody == other.httpBody && httpBodyStream === other.httpBodyStream
    }
}
