extension Outage {
    /// The lesson of the outage, from measurements and nothing else.
    var lesson: String {
        let outage = scenario.outage.upperBound - scenario.outage.lowerBound
        return "After \(outage.inSeconds) without service: " + results.map(clause).joined(separator: "; ") + "."
    }

    private func clause(_ result: Result) -> String {
        let unanswered = "\((1 - result.timeline.successRate).inPercent) of all calls unanswered"
        let times = (Double(result.timeline.peak) / scenario.capacity).rounded(toPlaces: 1)
        let end =
            switch result.recovery {
            case nil:
                "it stays down for all the \(scenario.watched.inSeconds) that were watched, under up to \(times) times the load it can bear"
            case 0?: "it recovers at once"
            case let seconds?: "it recovers after \(seconds) s"
            }
        return "with \(result.strategy.name) \(end), \(unanswered)"
    }
}
