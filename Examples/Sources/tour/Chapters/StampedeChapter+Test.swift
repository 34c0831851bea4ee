extension StampedeChapter {
    /// Runs the test of the app: its first screen opens, and the token is refreshed once.
    ///
    /// The same lines run with the real runtime and in the simulation. The stub suspends, as a server would; but the runtime serves the main actor
    /// and the actor of the stub in the order of arrival, so that the feed, which sends the first request, always has its token before the profile
    /// has its settings. A user's network does not guarantee this order.
    ///
    /// - Parameter log: Receives a text for each event.
    /// - Returns: The number of times that the token was refreshed.
    @MainActor
    static func refreshes<Tokens: TokenCache>(
        with _: Tokens.Type,
        log: @escaping (String) -> Void = { _ in }
    ) async throws -> Int {
        let backend = StubBackend()
        let screen = HomeScreen(backend: backend, tokens: Tokens(backend: backend), log: log)
        let feed = Task(name: "feed") { try await screen.loadFeed() }
        let profile = Task(name: "profile") { try await screen.loadProfile() }
        try await feed.value
        try await profile.value
        return await backend.refreshes
    }
}

/// A stub of the whole backend, as tests have it.
private actor StubBackend: Backend {
    private(set) var refreshes = 0

    func settings() -> String { "settings" }

    func refreshToken() -> String {
        refreshes += 1
        return "token \(refreshes)"
    }
}
