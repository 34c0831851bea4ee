import Foundation
import TaskControl
internal import TaskControlFleet
import TaskControlHTTP

/// The authentication token of an ``EtcdStore``: fetched once for all concurrent operations, and fetched again when a server has refused it.
final class EtcdTokens: Sendable {
    struct Token: Sendable {
        /// The text of the token; `nil` if the server does not use authentication.
        let text: String?
        /// The number of tokens that were refused before this one.
        let number: Int
    }

    private struct State {
        var token: Token?
        /// The number of ``token`` or, if there is none, of the token that is fetched next.
        var number = 0
    }

    private let state = Locked(State())
    // If all callers are cancelled, the fetch continues: the next caller can use the token.
    private let flights = SingleFlight<Int, Token>(name: "EtcdStore.authenticate", whenAbandoned: .finish)

    /// Returns the current token, or fetches one if there is none.
    ///
    /// - Parameter fetch: Obtains a token from a server; returns `nil` if the server does not use authentication. Called for only one of several
    ///   concurrent callers.
    /// - Throws: The error of `fetch`; `CancellationError` if the caller is cancelled.
    func token(_ fetch: @escaping @Sendable () async throws -> String?) async throws -> Token {
        let (token, number) = state.withLock { ($0.token, $0.number) }
        if let token { return token }
        return try await flights.value(for: number) { [self] in
            // A fetch that has just ended may have stored the token.
            if let token = state.withLock({ $0.number == number ? $0.token : nil }) { return token }
            let token = Token(text: try await fetch(), number: number)
            state.withLock { if $0.number == number { $0.token = token } }
            return token
        }
    }

    /// Discards a token that a server has refused. Does nothing if a newer token has already replaced that token.
    func refuse(_ token: Token) {
        state.withLock { state in
            guard state.number == token.number else { return }
            (state.token, state.number) = (nil, state.number + 1)
        }
    }
}
