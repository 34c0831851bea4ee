/// The serial number of a credential. No two credentials of an ``EndpointAuthenticator`` have the same number.
typealias CredentialSerial = Int

/// The current credential of an ``EndpointAuthenticator``, and whether the server has rejected it. Pure: a value without a lock, task or closure.
///
/// ```
///            use: attach               use: refresh
///   ┌──────┐ ──────────▶ ┌──────┐ reject(current) ┌──────────┐
///   │ none │ refreshed   │ good │ ───────────────▶ │ rejected │
///   └──────┘ ◀────────── └──────┘ ◀─────────────── └──────────┘
///             forget                refreshed(current)
/// ```
///
/// A *good* credential is one that the server has not rejected. It may have a ``Validity``. From the renewal time of
/// the validity on, the credential is renewed before it is used. If the renewal fails, the credential is still attached
/// until it expires.
///
/// Events about a credential that is no longer the current one change nothing.
struct CredentialStateMachine<Credential> {
    /// The time from which a credential is renewed, and the time at which it expires.
    struct Validity: Hashable, Sendable {
        let renewal: Date
        let end: Date

        /// Creates the validity of a credential that is obtained now. A credential that is valid for less than twice the margin is renewed in the
        /// middle of that time: otherwise each request would renew it.
        ///
        /// - Parameters:
        ///   - end: The time at which the credential expires.
        ///   - now: The current time.
        ///   - margin: The time in seconds before the expiration at which the credential is renewed.
        init(until end: Date, from now: Date, margin: TimeInterval) {
            self.end = end
            renewal = end - max(0, min(margin, end.timeIntervalSince(now) / 2))
        }
    }

    private var credential: Credential?
    private var isGood: Bool
    /// The validity of the credential; `nil` if it is not known to expire.
    private var validity: Validity?
    private(set) var serial: CredentialSerial = 0

    init(_ initial: Credential?, _ validity: Validity? = nil) {
        credential = initial
        self.validity = validity
        isGood = initial != nil
    }

    enum Use {
        case attach(Credential, CredentialSerial)
        /// The request must renew the credential first. If the renewal fails and the credential has not expired, the
        /// request attaches the credential.
        case renew(Credential, CredentialSerial, isExpired: Bool)
        case refresh(CredentialSerial)
    }

    /// Returns the action by which a request obtains a credential: attach the current one, renew it first, or wait for
    /// a refresh.
    ///
    /// - Parameter now: The current time. By default, expirations are ignored.
    func use(at now: Date = .distantPast) -> Use {
        guard isGood, let credential else { return .refresh(serial) }
        guard let validity, now >= validity.renewal else { return .attach(credential, serial) }
        return .renew(credential, serial, isExpired: now >= validity.end)
    }

    enum Begin {
        case refresh(rejected: Credential?)
        case done
    }

    /// Returns whether a refresh must begin.
    ///
    /// - Parameters:
    ///   - serial: The serial number of the credential that must be replaced.
    ///   - now: The current time.
    /// - Returns: `refresh` with the credential that must be replaced; `done` if it has been replaced or discarded in
    ///   the meantime.
    func begin(_ serial: CredentialSerial, at now: Date = .distantPast) -> Begin {
        let isDue = validity.map { now >= $0.renewal } ?? false
        return serial == self.serial && (!isGood || isDue) ? .refresh(rejected: credential) : .done
    }

    /// Records a credential that a refresh has obtained, unless the credential that it replaces is no longer the current one.
    ///
    /// - Parameters:
    ///   - serial: The serial number of the credential for which the refresh began.
    ///   - new: The new credential.
    ///   - validity: The validity of the new credential; `nil` if it is not known to expire.
    /// - Returns: The credential that the caller must release after the lock has been released: the replaced one, or
    ///   the new one if it was not recorded; `nil` if the new one was recorded and there was no earlier one.
    mutating func refreshed(
        _ serial: CredentialSerial,
        _ new: Credential,
        _ validity: Validity? = nil
    ) -> Credential? {
        guard serial == self.serial else { return new }
        defer { credential = new }
        self.validity = validity
        isGood = true
        self.serial += 1
        return credential
    }

    /// Records that the server has rejected a request with the credential of this serial number. Has no effect if the
    /// credential is not the current one.
    mutating func reject(_ serial: CredentialSerial) {
        if serial == self.serial { isGood = false }
    }

    /// Discards the current credential, and the result of a refresh that is running.
    ///
    /// - Returns: The discarded credential; `nil` if there was none. The caller must release it after the lock has been
    ///   released.
    mutating func forget() -> Credential? {
        defer { credential = nil }
        isGood = false
        serial += 1
        return credential
    }
}

extension CredentialStateMachine.Use: Equatable where Credential: Equatable {}
extension CredentialStateMachine.Begin: Equatable where Credential: Equatable {}
