/// The credential of an ``Authenticator``, regardless of its type.
protocol CredentialSource: Sendable {
    func attach(to request: inout URLRequest) async throws -> CredentialSerial
    func reject(_ serial: CredentialSerial)
    func forget()
}
