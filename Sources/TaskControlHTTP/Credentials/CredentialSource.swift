internal import Foundation

/// A type that stores the credential of an ``EndpointAuthenticator``, and hides the type of the credential.
protocol CredentialSource: Sendable {
    /// Attaches the current credential, if there is no need to wait.
    func attachNow(to request: inout URLRequest) throws -> CredentialSerial?
    func attach(to request: inout URLRequest) async throws -> CredentialSerial
    func reject(_ serial: CredentialSerial)
    func forget()
}
