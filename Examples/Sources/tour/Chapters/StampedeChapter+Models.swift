import TaskControl

/// The requests of an app to its service: HTTP on the phone, a stub in its tests.
protocol Backend: Sendable {
    /// Returns the settings, which need no token.
    func settings() async throws -> String
    /// Returns a new access token, in place of an expired token.
    func refreshToken() async throws -> String
}

@MainActor
protocol TokenCache {
    init(backend: any Backend)
    func accessToken() async throws -> String
}

/// A token cache as people write it today. Between the first line and the last line, another task may request a token.
@MainActor
final class NaiveTokenCache: TokenCache {
    private var token: String?
    private let backend: any Backend

    init(backend: any Backend) { self.backend = backend }

    func accessToken() async throws -> String {
        if let token { return token }
        let fresh = try await backend.refreshToken()
        token = fresh
        return fresh
    }
}

/// A token cache with a `TaskSlot`: a caller that comes while a refresh runs waits for that refresh.
@MainActor
final class SharedTokenCache: TokenCache {
    private struct SignedOut: Error {}

    private var token: String?
    private let backend: any Backend
    private let refreshes = TaskSlot(name: "token", behavior: .preferPrevious)

    init(backend: any Backend) { self.backend = backend }

    func accessToken() async throws -> String {
        if let token { return token }
        let refresh = refreshes.addTask(name: "refresh") { [weak self, backend] in
            guard let fresh = try? await backend.refreshToken() else { return }
            self?.token = fresh
        }
        await refresh.value
        guard let token else { throw SignedOut() }
        return token
    }
}

/// The app's first screen: a feed, and a profile that needs the settings before it needs a token.
@MainActor
final class HomeScreen {
    private let backend: any Backend
    private let tokens: any TokenCache
    private let log: (String) -> Void

    init(backend: any Backend, tokens: any TokenCache, log: @escaping (String) -> Void) {
        self.backend = backend
        self.tokens = tokens
        self.log = log
    }

    func loadFeed() async throws {
        log("the feed asks for a token")
        let token = try await tokens.accessToken()
        log("the feed has \(token)")
    }

    func loadProfile() async throws {
        _ = try await backend.settings()
        log("the profile asks for a token")
        let token = try await tokens.accessToken()
        log("the profile has \(token)")
    }
}
