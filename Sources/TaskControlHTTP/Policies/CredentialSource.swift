/// A type that stores the credential of an ``EndpointAuthenticator``, and hides the type of the credential.
protocol CredentialSource: Sendable {
    func attach(to request: inout URLRequest) async throws -> CredentialSerial
    func reject(_ serial: CredentialSerial)
    func forget()
}
