import TaskControl
import TaskControlTesting
import TestSupport
import Testing

// MARK: The document's types

// Changed for language mode 6: what its tasks change is on the main actor.
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
private class ProfileViewModel: ObservableObject {
    let gone = Gate()
    deinit { gone.open() }

    @Published var profile: Profile?
    private let lifetime = AsyncLifetime()

    func load() {
        AsyncTask {
            let profile = try await api.fetchProfile()
            await MainActor.run { self.profile = profile }
        }
        .bind(to: lifetime)
    }
}

// Changed for language mode 6: what its tasks change is on the main actor.
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
private class FeedViewModel: ObservableObject {
    @Published var items: [Item] = []
    private let lifetime = AsyncLifetime()

    func load() {
        AsyncTask { self.items = try await api.fetchFeed() }
            .bind(to: lifetime)
    }

    func refresh() {
        lifetime.cancelAll()
        AsyncTask { self.items = try await api.fetchFeed() }
            .bind(to: lifetime)
    }
}

@MainActor
private class SearchViewModel: ObservableObject {
    @Published var results: [SearchResult] = []
    @Published var isLoading = false

    private let lifetime = AsyncLifetime()

    func search(query: String) {
        lifetime.cancelAll()

        AsyncTask {
            self.isLoading = true
            defer { self.isLoading = false }

            do {
                self.results = try await withSingleFlight(key: "search:\(query)") {
                    try await SearchAPI.search(query: query)
                }
            } catch is CancellationError {
                // Superseded.
            }
        }
        .bind(to: lifetime)
    }
}

private class FeedViewController: UIViewController {
    private let lifetime = AsyncLifetime()
    private(set) var rendered: [Item] = []

    override func viewWillAppear(_ animated: Bool) {
        super.viewWillAppear(animated)

        AsyncTask {
            let feed = try await retry(
                attempts: 3,
                backoff: .exponential(base: .seconds(1))
            ) {
                try await FeedAPI.fetch()
            }
            await MainActor.run { self.render(feed) }
        }
        .bind(to: lifetime)
    }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        lifetime.cancelAll()
    }

    func render(_ feed: [Item]) { rendered = feed }
}

/// Owns a lifetime as the document's types do, and work that does not touch it.
private class Worker {
    private let lifetime = AsyncLifetime()

    func work() {
        AsyncTask { await doWork() }
            .bind(to: lifetime)
    }
}

// What the tests wait for.
extension ProfileViewModel {
    fileprivate var bound: AsyncLifetime { lifetime }
}

extension FeedViewModel {
    fileprivate func drain() async throws { try await lifetime.drain() }
}

extension SearchViewModel {
    fileprivate func drain() async throws { try await lifetime.drain() }
}

extension FeedViewController {
    fileprivate func drain() async throws { try await lifetime.drain() }
}

// MARK: - Lifetimes

@Suite(.timeLimit(.minutes(15)), .oneUserOfTheRegistry)
#if swift(>=6) && !MAIN_ACTOR_BY_DEFAULT
@MainActor
#endif
struct AsyncGuardKitLifetimeTests {
    let backend = HeldBackend()

    @Test func theProfileThatAModelLoadsArrives() async throws {
        let model = ProfileViewModel()

        model.load()
        try await model.bound.drain()

        #expect(model.profile == Profile(name: "profile"))
    }

    @Test func aModelThatItsOwnWorkNamesStaysUntilTheWorkHasEndedAndNoLonger() async throws {
        weak var released: ProfileViewModel?
        let gone: Gate
        do {
            let model = ProfileViewModel()
            backend.serving { model.load() }
            gone = model.gone
            released = model
        }

        try await backend.begun.wait()
        #expect(released != nil)

        backend.released.open()
        try await gone.wait()
        #expect(released == nil)
        #expect(backend.answered.isOpen)
    }

    @Test func theWorkOfAReleasedOwnerIsCancelled() async throws {
        var worker: Worker? = Worker()
        backend.serving { worker?.work() }
        try await backend.begun.wait()

        worker = nil

        try await backend.cancelled.wait()
    }

    @Test func theItemsThatAModelLoadsArrive() async throws {
        let model = FeedViewModel()

        model.load()
        try await model.drain()

        #expect(model.items == [Item(title: "feed")])
    }

    @Test func refreshingCancelsWhatIsInFlightAndStartsAfresh() async throws {
        let model = FeedViewModel()
        backend.serving { model.load() }
        try await backend.begun.wait()

        model.refresh()
        try await model.drain()

        #expect(backend.cancelled.isOpen)
        #expect(model.items == [Item(title: "feed")])
    }

    @Test @MainActor func aSearchEndsThePreviousOneAndItsResultsStay() async throws {
        let model = SearchViewModel()
        backend.serving { model.search(query: "sw") }
        try await backend.begun.wait()
        #expect(model.isLoading)

        model.search(query: "swift")
        try await model.drain()

        // The drain waits for the tasks, and not for the other end of the exchange.
        try await backend.cancelled.wait()
        #expect(model.results == [SearchResult(title: "swift")])
        #expect(!model.isLoading)
    }

    /// Takes a second: the document's delay has the real clock.
    @Test @MainActor func aControllerRendersWhatASecondAttemptFetched() async throws {
        struct Unreachable: Error {}
        let attempts = OrderRecorder<String>()
        let controller = FeedViewController()

        let flaky = Backend { request in
            attempts.record(request)
            if attempts.events.count == 1 { throw Unreachable() }
            return request
        }
        flaky.serving { controller.viewWillAppear(false) }
        try await controller.drain()

        #expect(attempts.events == ["feed", "feed"])
        #expect(controller.rendered == [Item(title: "feed")])
    }

    @Test @MainActor func aControllerThatDisappearsCancelsItsRequest() async throws {
        let controller = FeedViewController()
        backend.serving { controller.viewWillAppear(false) }
        try await backend.begun.wait()

        controller.viewDidDisappear(false)
        try await controller.drain()

        #expect(backend.cancelled.isOpen)
        #expect(controller.rendered.isEmpty)
    }
}

// MARK: - Strategies

@Suite(.timeLimit(.minutes(15)), .oneUserOfTheRegistry)
struct AsyncGuardKitStrategyTests {
    let backend = HeldBackend()

    @Test func diagnosticsAreConfiguredAsInTheDocument() {
        #if DEBUG
        AsyncGuard.configure(.init(debugLogging: true))
        #endif
        // The other tests need not be logged.
        AsyncGuard.configure(.init())
    }

    @Test func aBoundTaskIsCancelledWhenItsLifetimeGoes() async throws {
        do {
            let lifetime = AsyncLifetime()
            backend.serving {
                AsyncTask { await doWork() }
                    .bind(to: lifetime)
            }
            try await backend.begun.wait()
            #expect(lifetime.count == 1)
        }

        try await backend.cancelled.wait()
    }

    @Test func aStoredTaskIsCancelledWithItsSet() async throws {
        var cancellables = Set<AnyCancellable>()
        backend.serving {
            AsyncTask { await doWork() }
                .store(in: &cancellables)
        }
        try await backend.begun.wait()

        cancellables.cancelAll()

        try await backend.cancelled.wait()
    }

    @Test func aDetachedTaskRunsToItsEndUnheld() async throws {
        backend.serving {
            AsyncTask { await Analytics.log(.screenViewed) }
                .detached()
        }
        try await backend.begun.wait()

        backend.released.open()

        try await backend.answered.wait()
        #expect(backend.log.events == ["screenViewed"])
    }

    @Test func aBodyWithAPriorityMayThrowAndReturnSomething() async throws {
        let lifetime = AsyncLifetime()
        backend.released.open()
        backend.serving {
            AsyncTask(priority: .userInitiated) {
                try await api.fetchCriticalData()
            }
            .bind(to: lifetime)
        }

        try await lifetime.drain()

        #expect(backend.answered.isOpen)
    }

    @Test func cancellingASetCancelsEveryTaskInItAndEmptiesIt() async throws {
        let ads = HeldBackend()
        var cancellables = Set<AnyCancellable>()

        backend.serving {
            AsyncTask { await loadFeed() }.store(in: &cancellables)
        }
        ads.serving {
            AsyncTask { await loadAds() }.store(in: &cancellables)
        }
        #expect(cancellables.count == 2)
        try await backend.begun.wait()
        try await ads.begun.wait()

        cancellables.cancelAll()

        #expect(cancellables.isEmpty)
        try await backend.cancelled.wait()
        try await ads.cancelled.wait()
    }
}
