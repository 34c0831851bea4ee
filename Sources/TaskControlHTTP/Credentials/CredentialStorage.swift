internal import Foundation

/// The current credential of an ``EndpointAuthenticator``, with the closures that attach and refresh it.
final class CredentialStorage<Credential: Sendable>: CredentialSource {
    private let state: Locked<CredentialStateMachine<Credential>>
    private let refreshes = SingleFlight<RefreshKey, Void>(whenAbandoned: .finish)
    private let attach: @Sendable (Credential, inout URLRequest) throws -> Void
    private let refresh: @Sendable (Credential?) async throws -> Credential
    private let expiration: CredentialExpiration<Credential>?
    private let refreshTimeout: Duration?
    private let clock: any Clock<Duration>

    init(
        _ initial: Credential?,
        expiration: CredentialExpiration<Credential>?,
        refreshTimeout: Duration?,
        clock: any Clock<Duration>,
        attach: @escaping @Sendable (Credential, inout URLRequest) throws -> Void,
        refresh: @escaping @Sendable (Credential?) async throws -> Credential
    ) {
        state = Locked(CredentialStateMachine(initial, initial.flatMap { expiration?.validity(of: $0) }))
        self.expiration = expiration
        self.refreshTimeout = refreshTimeout
        self.clock = clock
        self.attach = attach
        self.refresh = refresh
    }

    func attachNow(to request: inout URLRequest) throws -> CredentialSerial? {
        let now = now
        guard case .attach(let credential, let serial) = state.withLock({ $0.use(at: now) }) else { return nil }
        try attach(credential, to: &request)
        return serial
    }

    func attach(to request: inout URLRequest) async throws -> CredentialSerial {
        var mayRenew = true
        while true {
            let now = now
            switch state.withLock({ $0.use(at: now) }) {
            case .attach(let credential, let serial):
                try attach(credential, to: &request)
                return serial
            case .renew(let credential, let serial, let isExpired):
                if mayRenew {
                    // Renewed only once: if the new credential is due for renewal too, it is attached nevertheless.
                    mayRenew = false
                    do {
                        try await refreshOnce(serial)
                        continue
                    } catch {
                        // The event of the refresh reports the error.
                        if isExpired || Task.isCancelled { throw error }
                    }
                }
                try attach(credential, to: &request)
                return serial
            case .refresh(let serial):
                try await refreshOnce(serial)
            }
        }
    }

    private var now: Date { expiration?.now() ?? .distantPast }

    private func attach(_ credential: Credential, to request: inout URLRequest) throws {
        let bare = request
        try attach(credential, &request)
        if request.isSent(like: bare), Credential.self != Void.self { throw Self.attachedNothing }
    }

    private func refreshOnce(_ serial: CredentialSerial) async throws {
        do {
            try await refreshes.value(for: RefreshKey(serial: serial)) { [self] in try await renew(serial) }
        } catch let error as ReentrancyError where error.key == RefreshKey.text {
            throw EndpointError(
                .request,
                detail:
                    "the authenticator's refresh used a client that has this authenticator, and would have waited for itself: "
                    + "use one without it"
            )
        }
    }

    /// The error for an `attach` closure that leaves the request unchanged. Without the error, the request would be
    /// sent without a credential, and each 401 would cause a refresh that changes nothing.
    private static var attachedNothing: EndpointError {
        EndpointError(
            .request,
            detail:
                "the authenticator's attach closure left the request unchanged: Foundation drops a header whose value contains a line break "
                + "or NUL. Check the credential"
        )
    }

    private func renew(_ serial: CredentialSerial) async throws {
        // A caller that arrives when a refresh has just ended does not begin another.
        let now = now
        guard case .refresh(let rejected) = state.withLock({ $0.begin(serial, at: now) }) else { return }
        let events = CallEvents.begin(.http, .refreshing, .running)
        do {
            // The limit contains the record: a credential that comes at the limit is used, since the server may have
            // replaced the old one.
            try await clock.limited(to: refreshTimeout) { try await refreshNow(serial, rejected) }
            events?.end(.refreshed, .completed)
        } catch {
            events?.end(.failed, .failed, error: error)
            throw error
        }
    }

    private func refreshNow(_ serial: CredentialSerial, _ rejected: Credential?) async throws {
        let new = try await refresh(rejected)
        let obtained = self.now
        // A new credential that has expired already shows that the clocks differ. Its expiration is ignored.
        let validity = expiration?.validity(of: new).flatMap { $0.end > obtained ? $0 : nil }
        let old = state.withLock { $0.refreshed(serial, new, validity) }
        withExtendedLifetime(old) {}
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
    /// Returns whether this request and another have the same URL, headers, method and body. The operator `==` cannot
    /// be used: in Foundation on Linux, it ignores the headers.
    fileprivate func isSent(like other: URLRequest) -> Bool {
        url == other.url && allHTTPHeaderFields == other.allHTTPHeaderFields && httpMethod == other.httpMethod
            && httpBody == other.httpBody && httpBodyStream === other.httpBodyStream
    }
}

/// The key under which callers of `SingleFlight.run` share one refresh. A private type, so that a call of
/// `SingleFlight.run` in the refresh closure cannot have the same key.
private struct RefreshKey: Hashable, Sendable, CustomStringConvertible {
    let serial: CredentialSerial

    /// The text by which the error of a refresh that asks for itself is recognized.
    static let text = "refresh of a credential"

    var description: String { Self.text }
}
