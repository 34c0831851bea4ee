import TaskControl
import TaskControlSupervision
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
struct KeepRunningForOwnerTests {
    private final class Model: Sendable {
        let lifetime = AsyncLifetime(name: "model")
        let log = OrderRecorder<String>()
    }

    private struct Connection {
        let elements: AsyncThrowingStream<Int, any Error>
        let input: AsyncThrowingStream<Int, any Error>.Continuation

        init() { (elements, input) = AsyncThrowingStream.makeStream() }
    }

    @Test func theModelIsDeallocatedAtOnceWhileTheConnectionWaits() async throws {
        let (connection, connected) = (Connection(), Gate())
        var model: Model? = Model()
        weak let weak = model
        let ended = Gate()
        connection.input.onTermination = { _ in ended.open() }
        let work = try #require(model).lifetime.keepRunning("feed", for: try #require(model)) {
            connected.open()
            return connection.elements
        } deliver: { model, element in
            model.log.record("\(element)")
        }
        try await work.waitUntilReady()
        connection.input.yield(1)
        try await model?.log.waitForEvents(count: 1)
        model = nil
        #expect(weak == nil)
        // The connection is cancelled.
        try await ended.wait()
        for await state in work.states where state.isFinal { break }
        if case .stopped = work.state {} else { Issue.record("The state is \(String(describing: work.state)).") }
    }

    @Test func aModelIsDeallocatedWhileTheWorkWaitsForItsRestart() async throws {
        let clock = TestClock()
        var model: Model? = Model()
        weak let weak = model
        let work = try #require(model).lifetime
            .keepRunning("feed", for: try #require(model), clock: clock) { () -> AsyncStream<Int> in
                throw MarkedError()
            } deliver: { _, _ in
            }
        try await clock.waitForSleepers(count: 1)
        model = nil
        #expect(weak == nil)
        for await state in work.states where state.isFinal { break }
        if case .stopped = work.state {} else { Issue.record("The state is \(String(describing: work.state)).") }
    }

    /// The connection fails, ends, and is made again; the closure continues after the last element that was delivered.
    @Test @MainActor func aConnectionThatEndsOrFailsIsMadeAgainAfterTheLastElement() async throws {
        let (clock, model, starts) = (TestClock(advancesAutomatically: true), Model(), OrderRecorder<Int?>())
        let work = model.lifetime.keepRunning("feed", for: model, clock: clock) { (last: Int?) in
            starts.record(last)
            let connection = Connection()
            let first = (last ?? 0) + 1
            if first == 3 { throw MarkedError() }
            connection.input.yield(first)
            connection.input.yield(first + 1)
            if first == 1 { connection.input.finish(throwing: MarkedError()) } else { connection.input.finish() }
            return connection.elements
        } deliver: { model, element in
            MainActor.assertIsolated()
            model.log.record("\(element)")
        }
        for await state in work.states where state.isFinal { break }
        if case .failed = work.state {} else { Issue.record("The state is \(String(describing: work.state)).") }
        // 1 and 2, and then five restarts that fail.
        #expect(model.log.events == ["1", "2"])
        #expect(starts.events == [nil, 2, 2, 2, 2, 2])
    }

    @Test func theElementsOfSeveralConnectionsFollowEachOther() async throws {
        let (clock, model) = (TestClock(advancesAutomatically: true), Model())
        model.lifetime.keepRunning("feed", for: model, limit: .unlimited, clock: clock) { (last: Int?) in
            let connection = Connection()
            for number in 1...3 { connection.input.yield((last ?? 0) + number) }
            connection.input.finish()
            return connection.elements
        } deliver: { model, element in
            model.log.record("\(element)")
        }
        try await model.log.waitForEvents(count: 9)
        #expect(Array(model.log.events.prefix(9)) == (1...9).map { "\($0)" })
        await model.lifetime.shutdown(grace: .zero)
    }

    @Test func workOfAnotherLifetimeEndsWithTheOwner() async throws {
        let (lifetime, connection) = (AsyncLifetime(), Connection())
        var model: Model? = Model()
        let work = lifetime.keepRunning("feed", for: try #require(model)) {
            connection.elements
        } deliver: { _, _ in
            Issue.record("The owner was deallocated.")
        }
        try await work.waitUntilReady()
        model = nil
        connection.input.yield(1)
        for await state in work.states where state.isFinal { break }
        if case .stopped = work.state {} else { Issue.record("The state is \(String(describing: work.state)).") }
        await lifetime.shutdown(grace: .zero)
        #expect(lifetime.isEmpty)
    }

    /// A connection whose other side has vanished is cancelled and made again, after the last element that was delivered.
    @Test func aSilentConnectionIsMadeAgain() async throws {
        let (clock, model, starts, ends) = (
            TestClock(advancesAutomatically: true), Model(), OrderRecorder<Int?>(), OrderRecorder<Int?>()
        )
        let work = model.lifetime.keepRunning(
            "feed",
            for: model,
            restart: .onFailure,
            silenceLimit: .seconds(30),
            clock: clock
        ) { (last: Int?) in
            starts.record(last)
            let connection = Connection()
            connection.input.onTermination = { _ in ends.record(last) }
            connection.input.yield((last ?? 0) + 1)
            if last == 2 { connection.input.finish() }
            return connection.elements
        } deliver: { model, element in
            model.log.record("\(element)")
        }
        for await state in work.states where state.isFinal { break }
        if case .completed = work.state {} else { Issue.record("The state is \(String(describing: work.state)).") }
        #expect(model.log.events == ["1", "2", "3"])
        #expect(starts.events == [nil, 1, 2] && ends.events == [nil, 1, 2])
    }

    @Test func theErrorOfASilentConnectionIsItsFailure() async throws {
        let (clock, model, connection) = (TestClock(), Model(), Connection())
        let work = model.lifetime.keepRunning(
            "feed",
            for: model,
            restart: .never,
            silenceLimit: .seconds(30),
            clock: clock
        ) {
            connection.elements
        } deliver: { _, _ in
        }
        try await work.waitUntilReady()
        try await clock.waitForSleepers()
        await clock.advance(by: .seconds(30))
        for await state in work.states where state.isFinal { break }
        guard case .failed(let causes) = work.state else {
            Issue.record("The work is not failed.")
            return
        }
        #expect(causes.map { $0.error as? TimeoutError } == [TimeoutError(duration: .seconds(30))])
    }

    @Test func theOwnerOfASilentConnectionIsNotRetained() async throws {
        let (connection, ended) = (Connection(), Gate())
        connection.input.onTermination = { _ in ended.open() }
        var model: Model? = Model()
        weak let weak = model
        let work = try #require(model).lifetime
            .keepRunning("feed", for: try #require(model), silenceLimit: .seconds(30), clock: TestClock()) {
                connection.elements
            } deliver: { _, _ in
            }
        try await work.waitUntilReady()
        model = nil
        #expect(weak == nil)
        try await ended.wait()
        for await state in work.states where state.isFinal { break }
        if case .stopped = work.state {} else { Issue.record("The state is \(String(describing: work.state)).") }
    }
}
