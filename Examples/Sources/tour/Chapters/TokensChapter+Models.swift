import TaskControlHTTP

/// A user's account. Its requests have its access token, and are sent once more with a new token if they are refused.
@MainActor
protocol Account: AnyObject, Sendable {
    /// - Parameters:
    ///   - address: Where items come from, and new tokens.
    ///   - refused: Counts who met an expired token and is about to ask for a new one.
    init(address: URL, token: Int, refused: Observed<Int>)
    func load(_ item: String) -> Task<Answer, any Error>
}

/// An account that refreshes its token by hand.
@MainActor
protocol ManualAccount: Account {
    var api: API { get }
    var token: Int { get }
    var refused: Observed<Int> { get }
    /// Makes ``token`` a new one.
    func refresh() async throws
}

extension ManualAccount {
    func load(_ item: String) -> Task<Answer, any Error> {
        Task { try await ask(item) }
    }

    private func ask(_ item: String) async throws -> Answer {
        let used = token
        do {
            return try await api.ask(item, token: used)
        } catch let error as HTTPError where error.statusCode == 401 {
            refused.update { $0 += 1 }
            // Another task may have brought a new one in the meantime.
            if token == used { try await refresh() }
            return try await api.ask(item, token: token)
        }
    }
}

/// As people write it today. The check before is right, and helps callers that come late: none knows of the callers that are on their way.
@MainActor
final class NaiveAccount: ManualAccount {
    let api: API
    let refused: Observed<Int>
    private(set) var token: Int
    // Tokens come from elsewhere, as they mostly do: requests for them do not stand in line behind those for items.
    private let tokens: API

    init(address: URL, token: Int, refused: Observed<Int>) {
        (api, tokens) = (API(address: address), API(address: address))
        (self.token, self.refused) = (token, refused)
    }

    func refresh() async throws {
        token = try await tokens.ask("token").edition
    }
}

/// With `withSingleFlight`: a caller that comes while a refresh is in progress gets its token.
///
/// A `SingleFlight` in the account would do the same, and need no key that says whose token it is.
@MainActor
final class SharedAccount: ManualAccount {
    private struct Refresh: Hashable { let account: ObjectIdentifier }

    let api: API
    let refused: Observed<Int>
    private(set) var token: Int
    private let tokens: API

    init(address: URL, token: Int, refused: Observed<Int>) {
        (api, tokens) = (API(address: address), API(address: address))
        (self.token, self.refused) = (token, refused)
    }

    func refresh() async throws {
        try await withSingleFlight(key: Refresh(account: ObjectIdentifier(self))) { [self] in
            // Inside, so that no caller can come after the flight and before the new token.
            token = try await tokens.ask("token").edition
        }
    }
}

/// With a client that knows who asks. The account says once where new tokens come from, and has no more to do with them.
@MainActor
final class ClientAccount: Account {
    private let api: API

    init(address: URL, token: Int, refused: Observed<Int>) {
        // Not the account's client: that would wait for itself.
        let tokens = API(address: address)
        let authenticator = Authenticator.bearer(initial: "\(token)") { _ in
            "\(try await tokens.ask("token").edition)"
        }
        api = API(address: address, policies: ClientPolicies(authenticator: authenticator)) { _, response, _, _ in
            if response?.statusCode == 401 { refused.update { $0 += 1 } }
        }
    }

    func load(_ item: String) -> Task<Answer, any Error> {
        Task { try await api.ask(item) }
    }
}
