/// The serial number of a credential. Each credential of an ``Authenticator`` has another one.
typealias CredentialSerial = Int

/// The current credential of an ``Authenticator``, and whether the server has rejected it. Pure: a value without a lock, task or closure.
///
/// ```
///            use: attach               use: refresh
///   ┌──────┐ ──────────▶ ┌──────┐ reject(current) ┌──────────┐
///   │ none │ refreshed   │ good │ ───────────────▶ │ rejected │
///   └──────┘ ◀────────── └──────┘ ◀─────────────── └──────────┘
///             forget                refreshed(current)
/// ```
///
/// A *good* credential, which was not rejected, may have a validity. From its renewal time on it is renewed before it is used. If that fails, it is
/// still attached until its end.
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
        /// Renew the credential first; if that fails and the credential has not expired, attach it.
        case renew(Credential, CredentialSerial, isExpired: Bool)
        case refresh(CredentialSerial)
    }

    /// Decides what a request must do to have a credential.
    func use(at now: Date = .distantPast) -> Use {
        guard isGood, let credential else { return .refresh(serial) }
        guard let validity, now >= validity.renewal else { return .attach(credential, serial) }
        return .renew(credential, serial, isExpired: now >= validity.end)
    }

    enum Begin {
        case refresh(rejected: Credential?)
        case done
    }

    /// Decides whether a refresh must begin.
    ///
    /// - Parameters:
    ///   - serial: The credential that must be replaced.
    ///   - now: The current time.
    /// - Returns: `done` if the credential has been replaced in the meantime.
    func begin(_ serial: CredentialSerial, at now: Date = .distantPast) -> Begin {
        let isDue = validity.map { now >= $0.renewal } ?? false
        return serial == self.serial && (!isGood || isDue) ? .refresh(rejected: credential) : .done
    }

    /// Records a credential that a refresh has obtained, unless the credential that it replaces is no longer the current one.
    ///
    /// - Parameter serial: The credential for which the refresh began.
    /// - Returns: A credential that must be released after the lock has been released.
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

    /// Records that the server has rejected a request with this credential.
    mutating func reject(_ serial: CredentialSerial) {
        if serial == self.serial { isGood = false }
    }

    /// Discards the current credential, and the result of a refresh that is running.
    ///
    /// - Returns: A credential that must be released after the lock has been released.
    mutating func forget() -> Credential? {
        defer { credential = nil }
        isGood = false
        serial += 1
        return credential
    }
}

extension CredentialStateMachine.Use: Equatable where Credential: Equatable {}
extension CredentialStateMachine.Begin: Equatable where Credential: Equatable {}
