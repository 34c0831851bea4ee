extension StampedeChapter {
    /// The test that the app has: its first screen opens, and the token is refreshed once.
    ///
    /// The same lines are played by the real runtime and by the simulation. The stub does give way, as a server would; but the runtime
    /// serves the main actor and the stub's in the order of arrival, so that the feed, which asked first, always has its token before the
    /// profile has its settings. It is that order which no user's network promises.
    ///
    /// - Parameter log: Receives what happens, for a reader.
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

/// The whole of the other side, as tests have it.
private actor StubBackend: Backend {
    private(set) var refreshes = 0

    func settings() -> String { "settings" }

    func refreshToken() -> String {
        refreshes += 1
        return "token \(refreshes)"
    }
}
