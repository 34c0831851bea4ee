import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct SharedConnectionTests {
    /// A connection that records what is sent on it, and when it is closed.
    private final class Socket: Sendable {
        let number: Int
        let elements: AsyncThrowingStream<Int, any Error>
        let input: AsyncThrowingStream<Int, any Error>.Continuation
        let sent = OrderRecorder<String>()
        let closed = Gate()

        init(_ number: Int) {
            self.number = number
            (elements, input) = AsyncThrowingStream.makeStream()
            input.onTermination = { [closed] _ in closed.open() }
        }
    }

    private final class Server: Sendable {
        private let sockets = OrderRecorder<Socket>()
        let lasts = OrderRecorder<Int?>()

        func open(after last: Int?) -> Socket {
            let socket = Socket(sockets.count + 1)
            lasts.record(last)
            sockets.record(socket)
            return socket
        }

        /// The connection with a number, counted from 1, when it has been opened.
        func socket(_ number: Int) async throws -> Socket {
            try await sockets.waitForEvents(count: number)
            return sockets.events[number - 1]
        }

        var count: Int { sockets.count }
    }

    private let server = Server()
    private let clock = TestClock()

    private func connection(
        limit: RestartLimit = .unlimited,
        silenceLimit: Duration? = nil
    ) -> SharedConnection<Socket, Int> {
        SharedConnection(
            "prices",
            limit: limit,
            backoff: .fixed(.seconds(1)),
            silenceLimit: silenceLimit,
            clock: clock
        ) { [server] last in
            server.open(after: last)
        } elements: { socket in
            socket.elements
        }
    }

    private func waitUntilStopped(_ connection: SharedConnection<Socket, Int>) async {
        for await state in connection.states { if case .stopped = state { return } }
    }

    @Test func nothingConnectsWithoutAUser() async throws {
        let connection = connection()
        #expect(server.count == 0 && connection.userCount == 0)
        guard case .stopped = connection.state else {
            Issue.record("There is a connection.")
            return
        }
    }

    @Test func allUsersShareOneConnectionAndEachReceivesAllElements() async throws {
        let connection = connection()
        let streams = (0..<3).map { _ in connection.elements(bufferingPolicy: .unbounded) }
        #expect(connection.userCount == 3)
        try await connection.waitUntilReady()
        let socket = try await server.socket(1)
        for number in 0..<5 { socket.input.yield(number) }
        for stream in streams {
            var iterator = stream.makeAsyncIterator()
            for number in 0..<5 { #expect(try await iterator.next() == number) }
        }
        #expect(server.count == 1)
    }

    @Test func theConnectionEndsWithItsLastUser() async throws {
        let connection = connection()
        var streams = (0..<2).map { _ in connection.elements(bufferingPolicy: .unbounded) }
        let socket = try await server.socket(1)
        streams.removeLast()
        #expect(connection.userCount == 1)
        try await connection.waitUntilReady()
        socket.input.yield(1)
        var iterator: AsyncThrowingStream<Int, any Error>.Iterator? = streams[0].makeAsyncIterator()
        #expect(try await iterator?.next() == 1)
        streams = []
        iterator = nil
        try await socket.closed.wait()
        await waitUntilStopped(connection)
        #expect(connection.userCount == 0 && connection.lifetime.isEmpty)
    }

    @Test func theConnectionEndsWhenTheReaderIsCancelled() async throws {
        let connection = connection()
        let reader = Task { for try await _ in connection.elements(bufferingPolicy: .unbounded) {} }
        let socket = try await server.socket(1)
        reader.cancel()
        try await socket.closed.wait()
        await waitUntilStopped(connection)
        #expect(connection.userCount == 0)
    }

    @Test func aUserAfterTheLastOneConnectsAgainWithoutAnElementOfBefore() async throws {
        let connection = connection()
        for number in 1...3 {
            var stream: AsyncThrowingStream<Int, any Error>? = connection.elements(bufferingPolicy: .unbounded)
            let socket = try await server.socket(number)
            socket.input.yield(number)
            var iterator = stream?.makeAsyncIterator()
            #expect(try await iterator?.next() == number)
            iterator = nil
            stream = nil
            try await socket.closed.wait()
        }
        #expect(server.lasts.events == [nil, nil, nil])
    }

    /// The connection of the earlier users is still being closed: the next one begins after its end.
    @Test func connectionsNeverOverlap() async throws {
        let (log, closing, mayClose) = (OrderRecorder<String>(), Gate(), Gate())
        let connection = SharedConnection<Int, Int>("slow") { _ in
            log.record("open")
            return log.count
        } elements: { _ in
            AsyncThrowingStream<Int, any Error> {
                try? await Gate().wait()
                closing.open()
                await mayClose.waitIgnoringCancellation()
                log.record("closed")
                return nil
            }
        }
        var first: AsyncThrowingStream<Int, any Error>? = connection.elements(bufferingPolicy: .unbounded)
        try await connection.waitUntilReady()
        withExtendedLifetime(first) {}
        first = nil
        try await closing.wait()
        let second = connection.elements(bufferingPolicy: .unbounded)
        #expect(log.events == ["open"])
        mayClose.open()
        try await connection.waitUntilReady()
        #expect(log.events == ["open", "closed", "open"])
        withExtendedLifetime(second) {}
    }

    @Test func aLostConnectionIsMadeAgainAndTheStreamsContinue() async throws {
        let connection = connection()
        let stream = connection.elements(bufferingPolicy: .unbounded)
        var iterator = stream.makeAsyncIterator()
        try await server.socket(1).input.yield(1)
        #expect(try await iterator.next() == 1)
        try await server.socket(1).input.finish(throwing: MarkedError())
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        try await server.socket(2).input.yield(2)
        #expect(try await iterator.next() == 2)
        #expect(server.lasts.events == [nil, 1])
    }

    @Test func aSilentConnectionIsMadeAgain() async throws {
        let connection = connection(silenceLimit: .seconds(30))
        let stream = connection.elements(bufferingPolicy: .unbounded)
        let socket = try await server.socket(1)
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30))
        try await socket.closed.wait()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        _ = try await server.socket(2)
        withExtendedLifetime(stream) {}
    }

    @Test func aPermanentFailureEndsAllStreamsAndTheNextUserBeginsAgain() async throws {
        let connection = connection(limit: .restarts(0, per: .seconds(60)))
        let streams = (0..<2).map { _ in connection.elements(bufferingPolicy: .unbounded) }
        try await server.socket(1).input.finish(throwing: MarkedError())
        for stream in streams {
            await #expect { for try await _ in stream {} } throws: { error in
                guard let error = error as? SupervisionError else { return false }
                return error.reason == .failed && error.causes.last?.error is MarkedError && error.name == "prices"
            }
        }
        #expect(connection.userCount == 0)
        var iterator = connection.elements(bufferingPolicy: .unbounded).makeAsyncIterator()
        try await server.socket(2).input.yield(7)
        #expect(try await iterator.next() == 7)
    }

    @Test func theEndOfTheLifetimeEndsTheStreamsWithoutAnError() async throws {
        let connection = connection()
        let stream = connection.elements(bufferingPolicy: .unbounded)
        try await connection.waitUntilReady()
        connection.lifetime.close()
        for try await _ in stream {}
        // Nothing begins any more.
        for try await _ in connection.elements(bufferingPolicy: .unbounded) {}
        await #expect(throws: SupervisionError.self) { try await connection.withConnection { _ in } }
        #expect(server.count == 1)
    }

    // MARK: The connection itself

    @Test func aCallerSendsOnTheConnectionOfTheOthers() async throws {
        let connection = connection()
        let stream = connection.elements(bufferingPolicy: .unbounded)
        let number = try await connection.withConnection { socket in
            socket.sent.record("hello")
            return socket.number
        }
        let socket = try await server.socket(1)
        #expect(number == 1 && socket.sent.events == ["hello"])
        #expect(server.count == 1 && connection.userCount == 1)
        withExtendedLifetime(stream) {}
    }

    @Test func aCallerIsAUserUntilItsOperationHasReturned() async throws {
        let connection = connection()
        try await connection.withConnection { socket in
            #expect(connection.userCount == 1 && !socket.closed.isOpen)
        }
        try await server.socket(1).closed.wait()
        await waitUntilStopped(connection)
        #expect(connection.userCount == 0)
    }

    @Test func aCallerWaitsForTheConnectionAfterALostOne() async throws {
        let connection = connection()
        let stream = connection.elements(bufferingPolicy: .unbounded)
        try await server.socket(1).input.finish()
        try await clock.waitForSleepers()
        let caller = Task { try await connection.withConnection { $0.number } }
        await clock.advance(by: .seconds(1))
        #expect(try await caller.value == 2)
        withExtendedLifetime(stream) {}
    }

    @Test func aCancelledCallerLeavesAndTheOthersStay() async throws {
        let (opening, mayOpen) = (Gate(), Gate())
        let connection = SharedConnection<Int, Int>("slow") { _ in
            opening.open()
            try await mayOpen.wait()
            return 1
        } elements: { _ in
            AsyncStream<Int> { _ in }
        }
        let stream = connection.elements(bufferingPolicy: .unbounded)
        let caller = Task { try await connection.withConnection { $0 } }
        try await opening.wait()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(connection.userCount == 1)
        mayOpen.open()
        #expect(try await connection.withConnection { $0 } == 1)
        withExtendedLifetime(stream) {}
    }

    @Test func aCallerThatWasCancelledBeforeDoesNotConnect() async {
        let connection = connection()
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await #expect(throws: CancellationError.self) { try await connection.withConnection { _ in } }
        }.value
        #expect(server.count == 0)
    }

    @Test func aSlowUserKeepsAsManyElementsAsItHasAskedFor() async throws {
        let connection = connection()
        let (newest, all) = (
            connection.elements(bufferingPolicy: .bufferingNewest(1)), connection.elements(bufferingPolicy: .unbounded)
        )
        let socket = try await server.socket(1)
        for number in 1...5 { socket.input.yield(number) }
        var iterator = all.makeAsyncIterator()
        for number in 1...5 { #expect(try await iterator.next() == number) }
        var slow = newest.makeAsyncIterator()
        // The last element may still be on its way to this stream.
        while let number = try await slow.next(), number < 5 {}
    }

    @Test func theStreamsRetainTheConnection() async throws {
        var connection: SharedConnection<Socket, Int>? = connection()
        let stream = try #require(connection?.elements(bufferingPolicy: .unbounded))
        connection = nil
        try await server.socket(1).input.yield(1)
        var iterator = stream.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
    }

    /// `keepRunning(_:for:)` hands each new connection to the owner, before its elements.
    @MainActor @Test func anOwnerReceivesEachConnectionBeforeItsElements() async throws {
        @MainActor final class Model {
            let lifetime = AsyncLifetime()
            let log = OrderRecorder<String>()
        }
        let (model, server) = (Model(), server)
        model.lifetime.keepRunning(
            "chat",
            for: model,
            limit: .unlimited,
            backoff: .fixed(.seconds(1)),
            clock: clock
        ) { (last: Int?) in
            server.open(after: last)
        } elements: { socket in
            socket.elements
        } connected: { model, socket in
            MainActor.assertIsolated()
            model.log.record("socket \(socket.number)")
        } deliver: { model, element in
            model.log.record("\(element)")
        }
        try await server.socket(1).input.yield(1)
        try await model.log.waitForEvents(count: 2)
        try await server.socket(1).input.finish()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(1))
        try await server.socket(2).input.yield(2)
        try await model.log.waitForEvents(count: 4)
        #expect(model.log.events == ["socket 1", "1", "socket 2", "2"] && server.lasts.events == [nil, 1])
        await model.lifetime.shutdown(grace: .zero)
    }
}
