import Foundation
import TaskControl

/// The users who are logged in. Each token ends by itself, in a task that is known by the token.
actor Tokens {
    private let lifetime: Duration
    private let clock: any Clock<Duration>
    private var valid: Set<String> = []
    private let ends = TaskStore<String>(name: "tokens")

    init(lifetime: Duration, clock: any Clock<Duration>) {
        self.lifetime = lifetime
        self.clock = clock
    }

    func issue() -> String {
        let token = UUID().uuidString.lowercased()
        valid.insert(token)
        ends.addTask(forKey: token, name: "end of a token") { [weak self, clock, lifetime] in
            try? await clock.sleep(for: lifetime)
            await self?.expire(token)
        }
        return token
    }

    /// Returns whether a request with a header has a valid token.
    ///
    /// - Parameter authorization: The value of the header `Authorization`.
    func accepts(authorization: String?) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
        return valid.contains(String(authorization.dropFirst("Bearer ".count)))
    }

    /// Ends all tokens before their time.
    func expireAll() {
        valid.removeAll()
        ends.cancelAll()
    }

    /// Returns when all tokens have ended.
    nonisolated func waitForEnds() async throws {
        try await ends.drain()
    }

    private func expire(_ token: String) {
        valid.remove(token)
    }
}
