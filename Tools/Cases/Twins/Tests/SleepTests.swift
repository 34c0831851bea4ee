import Testing

@Suite struct QuietTests {
    struct Slow {
        func answer() async throws -> Int {
            try await Task.sleep(for: .seconds(60))
            return 1
        }
    }

    // A sleep in place of work that is cancelled.
    @Test func cancels() async {
        let task = Task { try await Task.sleep(for: .seconds(60)) }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
    }

    @Test func stub() async throws {
        let slow = Slow()
        let task = Task { try await slow.answer() }
        task.cancel()
        #expect(await task.result.map { $0 == 1 } != nil)
    }

    // A condition, and not a time, ends the loop.
    @Test func polls() async throws {
        var count = 0
        while count < 3 {
            count += 1
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(count == 3)
    }
}

private extension Result {
    static func != (left: Result, right: Result?) -> Bool { right != nil }
}
