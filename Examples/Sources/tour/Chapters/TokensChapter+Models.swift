import Foundation
import TaskControlHTTP

/// A user's account. Its requests have its access token, and are sent once more with a new token if they are refused.
@MainActor
protocol Account: AnyObject, Sendable {
    /// Creates an account. `refused` counts the requests that were refused because of an expired token, before a new token is requested.
    init(address: URL, token: Int, refused: Observed<Int>)
    func load(_ item: String) -> Task<Answer, any Error>
}

/// An account that refreshes its token by hand.
@MainActor
class ManualAccount: Account {
    private let api: API
    // Tokens come from elsewhere, as they mostly do: requests for them do not stand in line behind those for items.
    fileprivate let tokens: API
    fileprivate var token: Int
    private let refused: Observed<Int>

    required init(address: URL, token: Int, refused: Observed<Int>) {
        (api, tokens) = (API(address: address), API(address: address))
        (self.token, self.refused) = (token, refused)
    }

    /// Replaces the token by a new token.
    func refresh() async throws {}

    func load(_ item: String) -> Task<Answer, any Error> { Task { try await ask(item) } }

    private func ask(_ item: String) async throws -> Answer {
        let used = token
        do {
            return try await api.ask(item, token: used)
        } catch let error as EndpointError where error.statusCode == 401 {
            refused.update { $0 += 1 }
            // Another task may have brought a new one in the meantime.
            if token == used { try await refresh() }
            return try await api.ask(item, token: token)
        }
    }
}

/// An account as people write it today. The check before the refresh is correct, and helps callers that come late; but no caller knows of the callers
/// that refresh at the same time.
final class NaiveAccount: ManualAccount {
    override func refresh() async throws { token = try await tokens.ask("token").edition }
}

/// An account with `withSingleFlight`: a caller that comes while a refresh is in progress receives the token of that refresh.
///
/// A `SingleFlight` in the account would have the same effect, and would not need a key that identifies the account.
final class SharedAccount: ManualAccount {
    private struct Refresh: Hashable { let account: ObjectIdentifier }

    override func refresh() async throws {
        try await withSingleFlight(key: Refresh(account: ObjectIdentifier(self))) { [self] in
            // Inside, so that no caller can come after the flight and before the new token.
            token = try await tokens.ask("token").edition
        }
    }
}

/// An account with a client that authenticates its requests. The account only provides the source of new tokens.
@MainActor
final class ClientAccount: Account {
    private let api: API

    init(address: URL, token: Int, refused: Observed<Int>) {
        // Not the account's client: that would wait for itself.
        let tokens = API(address: address)
        let authenticator = EndpointAuthenticator.bearer(initial: "\(token)") { _ in
            "\(try await tokens.ask("token").edition)"
        }
        api = API(address: address, policies: ClientPolicies(authenticator: authenticator)) { _, response, _, _ in
            if response?.statusCode == 401 { refused.update { $0 += 1 } }
        }
    }

    func load(_ item: String) -> Task<Answer, any Error> { Task { try await api.ask(item) } }
}
