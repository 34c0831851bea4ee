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
/// Events about a credential that is no longer the current one change nothing.
struct CredentialStateMachine<Credential> {
    private var credential: Credential?
    private var isGood: Bool
    private(set) var serial: CredentialSerial = 0

    init(_ initial: Credential?) {
        credential = initial
        isGood = initial != nil
    }

    enum Use {
        case attach(Credential, CredentialSerial)
        case refresh(CredentialSerial)
    }

    /// Somebody wants to send something.
    func use() -> Use {
        if isGood, let credential { .attach(credential, serial) } else { .refresh(serial) }
    }

    enum Begin {
        case refresh(rejected: Credential?)
        case done
    }

    /// A refresh begins that somebody asked for because of this one.
    func begin(_ serial: CredentialSerial) -> Begin {
        serial == self.serial && !isGood ? .refresh(rejected: credential) : .done
    }

    /// A refresh that began because of this one has succeeded. Returns what to let go of, outside the lock.
    mutating func refreshed(_ serial: CredentialSerial, _ new: Credential) -> Credential? {
        guard serial == self.serial else { return new }
        defer { credential = new }
        isGood = true
        self.serial += 1
        return credential
    }

    /// The server has rejected what was sent with this one.
    mutating func reject(_ serial: CredentialSerial) {
        if serial == self.serial { isGood = false }
    }

    /// The credential is not to be used any more, and neither is one that is being fetched. Returns what to let go of.
    mutating func forget() -> Credential? {
        defer { credential = nil }
        isGood = false
        serial += 1
        return credential
    }
}

extension CredentialStateMachine.Use: Equatable where Credential: Equatable {}
extension CredentialStateMachine.Begin: Equatable where Credential: Equatable {}
