import Observation
import TaskControlApexy
import TaskControlTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15)))
@MainActor struct ContentLoaderTests {
    private struct Failure: Error {}

    @Test func loadsAndShowsThePreviousContentMeanwhile() async throws {
        let numbers = Locked(0)
        let loader = ContentLoader {
            numbers.withLock {
                $0 += 1
                return $0
            }
        }
        #expect(loader.state == .initial)
        loader.load()
        #expect(loader.state == .loading(cache: nil))
        try await loader.drain()
        #expect(loader.state == .success(content: 1))
        loader.reload()
        #expect(loader.state == .loading(cache: 1))
        try await loader.drain()
        #expect(loader.state == .success(content: 2))
        loader.reload { throw Failure() }
        try await loader.drain()
        #expect(loader.state == .failure(error: Failure(), cache: 2))
        loader.load()
        #expect(loader.state == .loading(cache: 2))
    }

    @Test func loadDoesNothingWhileItLoadsAndReloadReplaces() async throws {
        let (first, second) = (Gate(), Gate())
        let started = OrderRecorder<String>()
        let loader = ContentLoader<String> {
            started.record("first")
            await first.waitIgnoringCancellation()
            return "first"
        }
        loader.load()
        try await first.waitForWaiters()
        loader.load()
        loader.reload {
            started.record("second")
            try await second.wait()
            return "second"
        }
        second.open()
        first.open()
        try await loader.drain()
        #expect(started.events == ["first", "second"])
        #expect(loader.state == .success(content: "second"))
    }

    @Test func aLateResultOverwritesNothing() async throws {
        let late = Gate()
        let loader = ContentLoader<String> {
            await late.waitIgnoringCancellation()
            return "late"
        }
        loader.load()
        try await late.waitForWaiters()
        let loaded = Gate()
        let observation = loader.observe { [unowned loader] in if !loader.state.isLoading { loaded.open() } }
        loader.reload { "new" }
        try await loaded.wait()
        observation.end()
        late.open()
        try await loader.drain()
        #expect(loader.state == .success(content: "new"))
    }

    @Test func cancellingRestoresTheStateBefore() async throws {
        let gate = Gate()
        let loader = ContentLoader(content: 1) {
            try await gate.wait()
            return 2
        }
        loader.load()
        try await gate.waitForWaiters()
        loader.cancel()
        #expect(loader.state == .success(content: 1))
        try await loader.drain()
        #expect(loader.state == .success(content: 1))
        loader.load()
        loader.replaceContent(with: 3)
        #expect(loader.state == .success(content: 3))
        try await loader.drain()
        #expect(loader.state == .success(content: 3))
    }

    @Test func handlersAreCalledForEachChangeUntilTheObservationEnds() async throws {
        let loader = ContentLoader { 1 }
        var states: [LoadingState<Int>] = []
        let observation = loader.observe { [unowned loader] in states.append(loader.state) }
        do {
            var calls = 0
            let short = loader.observe { calls += 1 }
            loader.load()
            #expect(calls == 1)
            withExtendedLifetime(short) {}
        }
        loader.reload()
        try await loader.drain()
        #expect(states == [.loading(cache: nil), .success(content: 1)])
        loader.cancel()
        #expect(states.count == 2)
        observation.end()
        loader.replaceContent(with: 2)
        #expect(states.count == 2)
    }

    @Test func aHandlerMayCallTheLoaderAndEndObservations() async throws {
        let loader = ContentLoader { 1 }
        var second: LoaderObservation?
        var calls = 0
        let first = loader.observe { [unowned loader] in
            second = nil
            if loader.state.isLoading { loader.cancel() }
        }
        second = loader.observe { calls += 1 }
        loader.load()
        #expect(loader.state == .initial)
        try await loader.drain()
        #expect(loader.state == .initial)
        #expect(calls == 0)
        first.end()
        _ = second
    }

    @Test func theStateIsObservable() async throws {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return }
        let loader = ContentLoader { 1 }
        for change in [{ loader.load() }, { loader.cancel() }, { loader.replaceContent(with: 2) }] {
            let changed = Gate()
            withObservationTracking {
                _ = loader.state
            } onChange: {
                changed.open()
            }
            change()
            #expect(changed.isOpen)
        }
    }

    @Test func theWorkRunsOutsideTheMainActor() async throws {
        let loader = ContentLoader {
            #expect(!Thread.isMainThread)
            return 1
        }
        loader.load()
        try await loader.drain()
        #expect(loader.state.content == 1)
    }

    @Test func aLoaderIsReleasedWhileItLoadsAndCancelsItsLoad() async throws {
        let (gate, ended) = (Gate(), Gate())
        try await requireDeallocated { @MainActor in
            let loader = ContentLoader<Int> {
                defer { ended.open() }
                try await gate.wait()
                return 1
            }
            let observation = loader.observe {}
            loader.load()
            try await gate.waitForWaiters()
            withExtendedLifetime(observation) {}
            return loader
        }
        try await ended.wait()
    }

    @Test func anEndpointIsLoadedFromAClient() async throws {
        let transport = MockTransport { _ in (200, Data(#"["Emma"]"#.utf8)) }
        let client = EndpointClient(baseURL: "https://books.example", transport: transport)
        let loader = ContentLoader(TitlesEndpoint(), from: client)
        loader.load()
        try await loader.drain()
        #expect(loader.state == .success(content: ["Emma"]))
    }

    private struct TitlesEndpoint: Endpoint {
        typealias Content = [String]

        func makeRequest() throws -> URLRequest { get("titles") }
    }
}
