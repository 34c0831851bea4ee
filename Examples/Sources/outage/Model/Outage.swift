import Foundation
import Support

/// The events of an outage, which do not depend on the strategy of the clients.
struct Scenario: Sendable {
    /// The number of clients. Each sends a request from time to time, independently of the others.
    var clients = 10_000
    var seed: UInt64 = 1

    /// The average time from one call of a client to its next call.
    let period = Duration.seconds(300)
    let outage = Duration.seconds(20)..<Duration.seconds(80)
    let end = Duration.seconds(200)

    /// The average number of calls that begin in a second.
    var demand: Double { Double(clients) / (period / .seconds(1)) }
    /// The number of requests that the service can answer in a second: more than the normal demand.
    var capacity: Double { demand * 2 }
    /// The time for which the service is observed after the outage.
    var watched: Duration { end - outage.upperBound }
}

/// The same outage, met by each strategy.
struct Outage: Sendable {
    struct Result: Sendable {
        let strategy: Strategy
        let timeline: Timeline
        /// The time of the recovery in seconds after the outage; `nil` if the service did not recover while it was observed.
        let recovery: Int?
    }

    let scenario: Scenario
    let results: [Result]

    /// Plays the outage with each strategy. `begins` receives each strategy before it is played.
    init(_ scenario: Scenario, begins: (Strategy) -> Void = { _ in }) throws {
        self.scenario = scenario
        results = try Strategy.allCases.map { strategy in
            begins(strategy)
            let timeline = try World.play(scenario, strategy)
            return Result(strategy: strategy, timeline: timeline, recovery: timeline.recovery(after: scenario.outage))
        }
    }

    // MARK: Text

    /// The lines that are printed: the strategies side by side, and the lesson.
    var text: [String] {
        let header = ["", "requests", "peak load", "answered", "recovers after"]
        let rows = results.map { result in
            [
                result.strategy.name, "\(result.timeline.requests)", "\(result.timeline.peak)/s",
                result.timeline.successRate.inPercent,
                result.recovery.map { "\($0) s" } ?? "> \(scenario.watched.inSeconds)",
            ]
        }
        let table = Table.lines(([header] + rows).map { $0.map { [$0] } }, widths: [40, 12, 12, 12, 20], gap: "   ")
        return ["\(title). Seed \(scenario.seed).", ""] + table + [""] + lesson.wrapped(to: 100)
    }

    var title: String { "\(scenario.clients) clients meet an outage of \(length)" }

    private var length: String { (scenario.outage.upperBound - scenario.outage.lowerBound).inSeconds }

    /// The lesson of the outage, from measurements and nothing else.
    var lesson: String { "After \(length) without service: " + results.map(clause).joined(separator: "; ") + "." }

    private func clause(_ result: Result) -> String {
        let unanswered = "\((1 - result.timeline.successRate).inPercent) of all calls unanswered"
        let load = "under up to \(Int(Double(result.timeline.peak) / scenario.capacity)) times the load it can bear"
        let end =
            switch result.recovery {
            case nil: "it stays down for all the \(scenario.watched.inSeconds) that were watched, \(load)"
            case 0?: "it recovers at once"
            case let seconds?: "it recovers after \(seconds) s"
            }
        return "with \(result.strategy.name) \(end), \(unanswered)"
    }
}

extension Duration {
    fileprivate var inSeconds: String { "\(Int((self / .seconds(1)).rounded())) s" }
}

extension Double {
    fileprivate var inPercent: String { String(format: "%.1f %%", self * 100) }
}
