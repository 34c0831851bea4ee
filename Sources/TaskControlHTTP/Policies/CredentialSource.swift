/// The credentials of an ``Authenticator``, whatever their type.
protocol CredentialSource: Sendable {
    func attach(to request: inout URLRequest) async throws -> CredentialSerial
    func reject(_ serial: CredentialSerial)
    func forget()
}
