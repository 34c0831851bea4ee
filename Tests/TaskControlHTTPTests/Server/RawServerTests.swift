import Testing

@Suite(.timeLimit(.minutes(15)))
struct RawServerTests {
    /// Otherwise each test would leave a thread and two descriptors behind.
    @Test func aServerThatIsDeallocatedClosesItsListener() async throws {
        let log = try RawServer { _, _ in }.log
        try await log.wait { $0.isClosed }
        #expect(log.now.accepted == 0 && log.now.live == 0)
    }
}
