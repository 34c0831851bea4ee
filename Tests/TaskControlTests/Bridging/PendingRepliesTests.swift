import TaskControlTesting
import TestSupport
import Testing

@testable import TaskControl

/// The promises of replies that are found by the IDs of their requests.
///
/// On the main actor, as the callers are: when a test continues after `sent.wait()`, the caller has parked.
@MainActor @Suite(.timeLimit(.minutes(15)))
struct PendingRepliesTests {
    private let replies = PendingReplies<Int, String>(name: "replies")
    private let sent = Gate()

    /// Sends a request that nothing answers by itself.
    private func call(_ id: Int) async throws -> String {
        let reply = try replies.expect(id)
        sent.open()
        return try await reply.value
    }

    // MARK: Replies

    @Test func eachReplyReachesItsRequestInAnyOrder() async throws {
        let expected = try (0..<10).map { try replies.expect($0) }
        let callers = expected.map { reply in Task { try await reply.value } }
        for id in [3, 1, 4, 5, 9, 2, 6, 8, 7, 0] { #expect(replies.resume(id, returning: "reply \(id)")) }
        for (id, caller) in callers.enumerated() { #expect(try await caller.value == "reply \(id)") }
        #expect(replies.count == 0)
    }

    @Test func aReplyThatComesBeforeTheCallerWaitsIsItsReply() async throws {
        let reply = try replies.expect(1)
        #expect(replies.resume(1, returning: "early"))
        #expect(try await reply.value == "early")
    }

    @Test func aRequestCanBeFailedByItsIDAsSoonAsItIsRegistered() async throws {
        let reply = try replies.expect(1)
        #expect(replies.resume(1, throwing: MarkedError("cancelled by ID")))
        await #expect(throws: MarkedError("cancelled by ID")) { try await reply.value }
        #expect(replies.count == 0)
    }

    @Test func aResultOfTheProtocolIsAReply() async throws {
        let (one, two) = (try replies.expect(1), try replies.expect(2))
        #expect(replies.resume(1, with: Result<String, MarkedError>.success("one")))
        #expect(replies.resume(2, with: Result<String, MarkedError>.failure(MarkedError("two"))))
        #expect(try await one.value == "one")
        await #expect(throws: MarkedError("two")) { try await two.value }
    }

    @Test func aReplyWithoutARequestIsVisibleToItsCallerAndToObservers() async throws {
        let events = try await EventLog.events {
            #expect(!replies.resume(7, returning: "to nobody"))
            let reply = try replies.expect(8)
            #expect(replies.resume(8, returning: "one"))
            #expect(!replies.resume(8, throwing: MarkedError()), "a second reply")
            #expect(try await reply.value == "one")
        }
        #expect(events.map(\.kind) == [.unexpectedReply, .unexpectedReply])
        #expect(
            events.map(\.key) == ["7", "8"]
                && events.allSatisfy { $0.severity != .warning && $0.ownerName == "replies" }
        )
    }

    @Test func severalCallersAwaitOneReplyEachWithItsCancellation() async throws {
        let reply = try replies.expect(1)
        let callers = (0..<3).map { _ in Task { try await reply.value } }
        await Task { @MainActor in }.value
        callers[1].cancel()
        await #expect(throws: CancellationError.self) { try await callers[1].value }
        #expect(replies.resume(1, returning: "for two"))
        #expect(try await callers[0].value == "for two")
        #expect(try await callers[2].value == "for two")
    }

    // MARK: Callers that leave

    @Test func aCancelledCallerLeavesAtOnceAndTakesItsEntryAlong() async throws {
        let caller = Task { try await call(1) }
        try await sent.wait()
        #expect(replies.count == 1)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(replies.count == 0)
        #expect(!replies.resume(1, returning: "late"))
    }

    @Test func aCallerAtItsLimitLeavesAndTakesItsEntryAlong() async throws {
        let clock = TestClock()
        let caller = Task { try await withTimeout(.seconds(5), clock: clock) { try await call(1) } }
        await clock.advance(by: .seconds(5), waking: 1)
        await #expect(throws: TimeoutError.self) { try await caller.value }
        #expect(replies.count == 0)
        #expect(!replies.resume(1, returning: "late"))
    }

    @Test func aReplyCanBeAwaitedAgainAfterALimit() async throws {
        let clock = TestClock()
        let reply = try replies.expect(1)
        let caller = Task { try await withTimeout(.seconds(5), clock: clock) { try await reply.value } }
        await clock.advance(by: .seconds(5), waking: 1)
        await #expect(throws: TimeoutError.self) { try await caller.value }
        #expect(replies.resume(1, returning: "slow"), "the ID is registered while the reply is kept")
        #expect(try await reply.value == "slow")
    }

    @Test func aRequestThatCouldNotBeSentLeavesNoEntry() async throws {
        func send() throws { throw MarkedError("not sent") }
        await #expect(throws: MarkedError("not sent")) {
            let reply = try replies.expect(1)
            try send()
            return try await reply.value
        }
        #expect(replies.count == 0)
    }

    @Test func aCancelledCallerReceivesOneErrorWhateverTheReplyIs() async throws {
        let reply = try replies.expect(1)
        replies.resume(1, throwing: MarkedError())
        let caller = Task {
            cancelCurrentTask()
            return try await reply.value
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    // MARK: The end of the connection

    @Test func theEndOfTheConnectionFailsAllRequestsWithItsErrorAndLaterOnesAtOnce() async throws {
        let waiting = Task { try await call(1) }
        try await sent.wait()
        let registered = try replies.expect(2)
        replies.close(throwing: MarkedError("reset by peer"))
        replies.close(throwing: MarkedError("the first call counts"))
        await #expect(throws: MarkedError("reset by peer")) { try await waiting.value }
        await #expect(throws: MarkedError("reset by peer")) { try await registered.value }
        #expect(throws: MarkedError("reset by peer")) { try replies.expect(3) }
        #expect(replies.count == 0 && !replies.resume(1, returning: "after the end"))
    }

    @Test func anOrderlyEndIsNoCancellationOfTheCaller() async throws {
        let reply = try replies.expect(1)
        replies.close()
        await #expect(throws: CancellationCause.shutdown(name: "replies")) { try await reply.value }
        #expect(throws: CancellationCause.shutdown(name: "replies")) { try replies.expect(2) }
    }

    @Test func requestsOfAReleasedObjectDoNotWaitForever() async throws {
        var replies: PendingReplies<Int, String>? = PendingReplies(name: "gone")
        let reply = try #require(replies).expect(1)
        let caller = Task { try await reply.value }
        await Task { @MainActor in }.value
        replies = nil
        await #expect(throws: CancellationCause.ownerDeallocated(name: "gone")) { try await caller.value }
    }

    // MARK: IDs

    @Test func anIDThatIsRegisteredAgainBelongsToTheNewRequest() async throws {
        var old: PendingReplies<Int, String>.Reply? = try replies.expect(1)
        let caller = Task { [old] in try await old?.value }
        let new = try replies.expect(1)
        await #expect(throws: CancellationCause.superseded(key: "1")) { try await caller.value }
        old = nil
        #expect(replies.count == 1, "the old request takes only its own entry along")
        #expect(replies.resume(1, returning: "new"))
        #expect(try await new.value == "new")
    }

    @Test func anIDCanBeUsedAgainAfterItsReply() async throws {
        for round in 0..<3 {
            let reply = try replies.expect(1)
            #expect(replies.resume(1, returning: "\(round)"))
            #expect(try await reply.value == "\(round)")
        }
    }

    @Test(.tags(.large)) func nothingIsLeftOfManyRequests() async throws {
        for id in 0..<fullSize(1_000_000, inDebug: 10_000) {
            let reply = try replies.expect(id)
            if id.isMultiple(of: 2) { replies.resume(id, returning: "") }
            withExtendedLifetime(reply) {}
        }
        #expect(replies.count == 0)
    }

    // MARK: Events

    @Test func aWaitIsToldFromItsBeginningToItsEnd() async throws {
        let events = await EventLog.events {
            let replies = PendingReplies<Int, String>(name: "observed")
            let ids = [1, 2, 3, 4]
            let callers = ids.map { id in
                Task {
                    let reply = try replies.expect(id)
                    return try await reply.value
                }
            }
            await Task { @MainActor in }.value
            replies.resume(1, returning: "value")
            _ = await callers[0].result
            replies.resume(2, throwing: MarkedError("failure"))
            _ = await callers[1].result
            callers[2].cancel()
            _ = await callers[2].result
            replies.close(throwing: MarkedError("end"))
            _ = await callers[3].result
        }
        #expect(events.unpaired == [])
        #expect(events.filter { $0.kind == .waiting }.map(\.detail) == ["1", "2", "3", "4"])
        #expect(events.first?.kind == .created && events.last?.kind == .deallocated)
        #expect(events.compactMap(\.outcome) == [.completed, .failed, .cancelled, .failed])
        #expect(events.filter { $0.kind == .closed }.map(\.count) == [1])
    }
}
