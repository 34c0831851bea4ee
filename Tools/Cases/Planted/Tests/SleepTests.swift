import Testing

@Suite struct SleepTests {
    let api = API()

    @Test func waits() async throws {
        await api.ping()
        try await Task.sleep(for: .milliseconds(100))  // expect: blocked-wait
        #expect(try await api.feed().isEmpty)
    }

    @Test("A name") func waitsQuietly() async {
        Task { await api.ping() }
        try? await Task.sleep(nanoseconds: 1_000_000)  // expect: blocked-wait
        #expect(Bool(true))
    }

    @Test func waitsInBranch() async throws {
        if try await api.feed().isEmpty {
            try await Task.sleep(nanoseconds: 1_000_000)  // expect: blocked-wait
        }
        try #require(try await api.feed().first == nil)
    }
}
