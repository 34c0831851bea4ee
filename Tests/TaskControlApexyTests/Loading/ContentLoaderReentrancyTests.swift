import Observation
import TaskControlApexy
import TaskControlTesting
import TestSupport
import Testing

/// Observers, handlers and cancellation handlers that call the loader.
@Suite(.timeLimit(.minutes(15)))
@MainActor struct ContentLoaderReentrancyTests {
    private struct Failure: Error {}

    /// Calls a closure in the notification of the next change.
    private func onNextChange(of loader: ContentLoader<Int>, _ body: @escaping @MainActor () -> Void) {
        guard #available(macOS 14, iOS 17, tvOS 17, watchOS 10, *) else { return body() }
        // A change within `onChange` calls it again.
        let isFirst = Locked(true)
        withObservationTracking {
            _ = loader.state
        } onChange: {
            guard isFirst.withLock({ exchange(&$0, with: false) }) else { return }
            MainActor.assumeIsolated(body)
        }
    }

    @Test func contentThatAnObserverSetsIsKept() async throws {
        let loader = ContentLoader { 1 }
        onNextChange(of: loader) { loader.replaceContent(with: 5) }
        loader.load()
        #expect(loader.state == .loading(cache: 5))
        try await loader.drain()
        #expect(loader.state == .success(content: 1))
    }

    @Test func aLoadThatAnObserverBeginsIsTheOnlyOne() async throws {
        let starts = Locked(0)
        let loader = ContentLoader {
            starts.withLock {
                $0 += 1
                return $0
            }
        }
        onNextChange(of: loader) { loader.load() }
        loader.load()
        try await loader.drain()
        #expect(loader.state == .success(content: 1))
        #expect(starts.withLock(\.self) == 1)
    }

    @Test func aReloadByAnObserverReplacesTheLoadThatEnds() async throws {
        let (first, second) = (Gate(), Gate())
        let loader = ContentLoader {
            try await first.wait()
            return 1
        }
        loader.load()
        try await first.waitForWaiters()
        onNextChange(of: loader) {
            loader.reload {
                try await second.wait()
                return 2
            }
        }
        first.open()
        try await second.waitForWaiters()
        #expect(loader.state == .loading(cache: nil))
        second.open()
        try await loader.drain()
        #expect(loader.state == .success(content: 2))
    }

    @Test func aReloadByACancellationHandlerIsNotCancelled() async throws {
        for cancels in [true, false] {
            let gate = Gate()
            let loader = ContentLoader<Int>(content: 0) { 0 }
            loader.reload {
                try await withTaskCancellationHandler {
                    try await gate.wait()
                    return 1
                } onCancel: {
                    MainActor.assumeIsolated { loader.reload { 2 } }
                }
            }
            try await gate.waitForWaiters()
            if cancels { loader.cancel() } else { loader.replaceContent(with: 5) }
            #expect(loader.state == .loading(cache: cancels ? 0 : 5))
            try await loader.drain()
            #expect(loader.state == .success(content: 2))
        }
    }

    @Test func handlersDoNotRunInACancelledTaskIfOneBeginsAnotherLoad() async throws {
        let changes: [@MainActor (ContentLoader<Int>) -> Void] = [
            { $0.reload { 2 } }, { $0.load() }, { $0.replaceContent(with: 2) }, { $0.cancel() },
        ]
        for change in changes {
            var cancelled: [Bool] = []
            let events = try await EventLog.events {
                let loader = ContentLoader(name: "numbers") { 1 }
                var isFirst = true
                let first = loader.observe { [unowned loader] in
                    guard isFirst, !loader.state.isLoading else { return }
                    isFirst = false
                    change(loader)
                }
                let second = loader.observe { cancelled.append(Task.isCancelled) }
                loader.load()
                try await loader.drain()
                withExtendedLifetime((first, second)) {}
            }
            #expect(cancelled.count >= 2 && !cancelled.contains(true))
            #expect(!events.contains { $0.kind == .cancelled || $0.outcome == .cancelled }, "\(events.lines)")
        }
    }

    @Test func theErrorOfALoadThatIsReplacedOrCancelledIsReported() async throws {
        let ends: [@MainActor (ContentLoader<Int>) -> Void] = [
            { $0.reload { 2 } }, { $0.cancel() }, { $0.replaceContent(with: 2) },
        ]
        for end in ends {
            for error in [Failure(), CancellationError()] as [any Error] {
                let events = try await EventLog.events {
                    let gate = Gate()
                    let loader = ContentLoader<Int> {
                        await gate.waitIgnoringCancellation()
                        throw error
                    }
                    loader.load()
                    try await gate.waitForWaiters()
                    end(loader)
                    gate.open()
                    try await loader.drain()
                }
                let reports = events.filter { $0.kind == .errorAfterCancellation }
                #expect(reports.map(\.detail) == (error is Failure ? ["ContentLoader"] : []))
                #expect(!events.contains { $0.kind == .unhandledError })
            }
        }
    }
}
