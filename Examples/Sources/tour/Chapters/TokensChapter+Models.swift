import TaskControl

/// Who is signed in. What it loads it asks for with its access token, and once more with a new one if that is refused.
@MainActor
protocol Account: AnyObject, Sendable {
    /// - Parameters:
    ///   - tokens: Where new tokens come from.
    ///   - refused: Counts who met an expired token and is about to ask for a new one.
    init(api: API, tokens: API, token: Int, refused: Observed<Int>)
    var api: API { get }
    var token: Int { get }
    var refused: Observed<Int> { get }
    /// Makes ``token`` a new one.
    func refresh() async throws
}

extension Account {
    func load(_ item: String) -> Task<Answer, any Error> {
        Task { try await ask(item) }
    }

    private func ask(_ item: String) async throws -> Answer {
        let used = token
        do {
            return try await api.ask(item, token: used)
        } catch let refusal as Refusal where refusal.status == 401 {
            refused.update { $0 += 1 }
            // Somebody else may have brought a new one in the meantime.
            if token == used { try await refresh() }
            return try await api.ask(item, token: token)
        }
    }
}

/// As people write it today. The check before is right, and helps whoever comes late: nobody knows of those who are on their way.
@MainActor
final class NaiveAccount: Account {
    let api: API
    let refused: Observed<Int>
    private(set) var token: Int
    private let tokens: API

    init(api: API, tokens: API, token: Int, refused: Observed<Int>) {
        (self.api, self.tokens, self.token, self.refused) = (api, tokens, token, refused)
    }

    func refresh() async throws {
        token = try await tokens.ask("token").edition
    }
}

/// With `withSingleFlight`: whoever comes while a refresh is in the air gets what that brings.
///
/// A `SingleFlight` in the account would do the same, and need no key that says whose token it is.
@MainActor
final class SharedAccount: Account {
    private struct Refresh: Hashable { let account: ObjectIdentifier }

    let api: API
    let refused: Observed<Int>
    private(set) var token: Int
    private let tokens: API

    init(api: API, tokens: API, token: Int, refused: Observed<Int>) {
        (self.api, self.tokens, self.token, self.refused) = (api, tokens, token, refused)
    }

    func refresh() async throws {
        try await withSingleFlight(key: Refresh(account: ObjectIdentifier(self))) { [self] in
            // Inside, so that nobody can come after the flight and before the new token.
            token = try await tokens.ask("token").edition
        }
    }
}
