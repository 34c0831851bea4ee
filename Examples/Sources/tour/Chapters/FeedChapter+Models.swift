import TaskControl
import TaskControlSupervision

/// The outages of the server: it breaks off every connection for some time, and the next event is the same after that.
struct Outages: Sendable {
    /// The events whose first requests begin an outage each.
    static let firstEvents = [4, 7, 10]
    static let duration = Duration.milliseconds(150)

    /// The number of requests that the server refuses in an outage before it recovers, even if that takes longer.
    var leastRefusals = 0

    @Sendable func reply(to visit: Visit, after earlier: [Visit]) -> Reply {
        guard Self.firstEvents.contains(where: { EventReader.subject($0) == visit.subject }) else { return .answer }
        guard let first = earlier.first else { return .breakOff }
        let isOver = visit.time - first.time >= Self.duration && earlier.count >= leastRefusals
        return isOver ? .answer : .breakOff
    }
}

/// Receives the events of a server, each with a request for the event after the last one: a request waits until there is one.
@MainActor
final class EventReader {
    private let api: API
    private(set) var received: [Int] = []

    init(api: API) { self.api = api }

    static nonisolated func subject(_ event: Int) -> String { "event \(event)" }

    /// Receives events until the connection breaks off. `isConnected` is called after each event.
    func follow(isConnected: () -> Void = {}) async throws {
        while true {
            let answer = try await api.ask(Self.subject((received.last ?? 0) + 1))
            // The number is that of the answer: an event that came twice would be seen.
            received.append(answer.number)
            isConnected()
        }
    }
}

/// Feeds as people write them today.
@MainActor
enum NaiveFeeds {
    /// Starts a task that ends with the first error, which is lost.
    static func followOnce(_ reader: EventReader) -> Task<Void, Never> { Task { try? await reader.follow() } }

    /// Starts a task that connects again as fast as the server can refuse it.
    static func followForever(_ reader: EventReader) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                do { try await reader.follow() } catch { continue }
            }
        }
    }
}

/// A feed with `keepRunning`.
@MainActor
final class Feed {
    let lifetime = AsyncLifetime(name: "feed")
    let work: SupervisedWork

    init(reader: EventReader) {
        work = lifetime.keepRunning(
            "feed",
            // By default 5, which three outages can exceed.
            limit: .restarts(30, per: .seconds(60)),
            backoff: FeedChapter.backoff,
            // A run that has received an event was stable: the next outage begins with the first delay again.
            stableAfter: .zero
        ) { [reader] run in
            try await reader.follow { run.markReady() }
        }
    }
}

/// The states of a feed from its beginning to its end.
struct FeedStates: Sendable {
    /// The delays of each outage: from a loss of the connection to the next event.
    private(set) var outages: [[Duration]] = []
    private(set) var isStopped = false
    private var isConnected = true

    init(_ states: some AsyncSequence<SupervisedWork.State, Never>) async {
        for await state in states {
            switch state {
            case .running: isConnected = true
            case .waiting(let delay, _):
                if isConnected { outages.append([]) }
                isConnected = false
                outages[outages.count - 1].append(delay)
            case .stopped: isStopped = true
            case .starting, .completed, .failed: break
            @unknown default: break
            }
        }
    }
}
