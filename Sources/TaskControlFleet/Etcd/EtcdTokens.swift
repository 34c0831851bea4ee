import TaskControl

/// The token of a store's user: fetched once for all operations that need it, and again when a server has refused it.
final class EtcdTokens: Sendable {
    struct Token: Sendable {
        /// `nil`: the server does not authenticate its clients.
        let text: String?
        /// Counts the tokens.
        let number: Int
    }

    private struct State {
        var token: Token?
        /// The number of the token that is there, or that is fetched next.
        var number = 0
    }

    private let state = Locked(State())
    // A token that is on its way is useful to the next caller as well.
    private let flights = SingleFlight<Int, Token>(name: "EtcdStore.authenticate", whenAbandoned: .finish)

    /// Returns the token, or fetches one.
    ///
    /// - Parameter fetch: Asks a server for a token.
    func token(_ fetch: @escaping @Sendable () async throws -> String?) async throws -> Token {
        let (token, number) = state.withLock { ($0.token, $0.number) }
        if let token { return token }
        return try await flights.run(number) { [self] in
            // A flight that has just ended can have brought it.
            if let token = state.withLock({ $0.number == number ? $0.token : nil }) { return token }
            let token = Token(text: try await fetch(), number: number)
            state.withLock { if $0.number == number { $0.token = token } }
            return token
        }
    }

    /// Forgets a token that a server has refused, unless there is another one by now.
    func refuse(_ token: Token) {
        state.withLock { state in
            guard state.number == token.number else { return }
            (state.token, state.number) = (nil, state.number + 1)
        }
    }
}
