/// Which credential something was sent with: one number for each that there has been.
typealias CredentialSerial = Int

/// Which credential is the current one, and whether it is still good.
///
/// ```
///            use: attach               use: refresh
///   ┌──────┐ ──────────▶ ┌──────┐ reject(current) ┌──────────┐
///   │ none │ refreshed   │ good │ ───────────────▶ │ rejected │
///   └──────┘ ◀────────── └──────┘ ◀─────────────── └──────────┘
///             forget                refreshed(current)
/// ```
///
/// A good credential may have a validity. From its renewal time on it is renewed before it is used; until its end it is
/// still attached if that fails.
///
/// Events about a credential that is no longer the current one change nothing.
struct CredentialStateMachine<Credential> {
    /// The time from which a credential is renewed, and the time at which it expires.
    struct Validity: Hashable, Sendable {
        let renewal: Date
        let end: Date

        /// The validity of a credential that is obtained now. A credential that lives less than twice the margin is
        /// renewed after half of its life: otherwise each request would renew it.
        init(until end: Date, from now: Date, margin: TimeInterval) {
            self.end = end
            renewal = end - max(0, min(margin, end.timeIntervalSince(now) / 2))
        }
    }

    private var credential: Credential?
    private var isGood: Bool
    /// `nil`: the credential does not expire, as far as is known.
    private var validity: Validity?
    private(set) var serial: CredentialSerial = 0

    init(_ initial: Credential?, _ validity: Validity? = nil) {
        credential = initial
        self.validity = validity
        isGood = initial != nil
    }

    enum Use {
        case attach(Credential, CredentialSerial)
        /// Refresh; if that fails and the credential has not expired, attach it.
        case renew(Credential, CredentialSerial, isExpired: Bool)
        case refresh(CredentialSerial)
    }

    /// A request needs a credential.
    func use(at now: Date = .distantPast) -> Use {
        guard isGood, let credential else { return .refresh(serial) }
        guard let validity, now >= validity.renewal else { return .attach(credential, serial) }
        return .renew(credential, serial, isExpired: now >= validity.end)
    }

    enum Begin {
        case refresh(rejected: Credential?)
        case done
    }

    /// A refresh of this credential begins.
    func begin(_ serial: CredentialSerial, at now: Date = .distantPast) -> Begin {
        let isDue = validity.map { now >= $0.renewal } ?? false
        return serial == self.serial && (!isGood || isDue) ? .refresh(rejected: credential) : .done
    }

    /// A refresh that began because of this one has succeeded. Returns the objects to release outside the lock.
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

    /// The server has rejected a request with this credential.
    mutating func reject(_ serial: CredentialSerial) {
        if serial == self.serial { isGood = false }
    }

    /// The credential must not be used any more, and neither must one that is being fetched. Returns the objects to release outside the lock.
    mutating func forget() -> Credential? {
        defer { credential = nil }
        isGood = false
        serial += 1
        return credential
    }
}

extension CredentialStateMachine.Use: Equatable where Credential: Equatable {}
extension CredentialStateMachine.Begin: Equatable where Credential: Equatable {}
