extension Outage {
    /// Returns the lines that are printed.
    func text(on terminal: Terminal) -> [String] {
        let outage = scenario.outage.upperBound - scenario.outage.lowerBound
        let chart = TerminalChart(outage: self, terminal: terminal)
        let intro =
            "\(scenario.clients.grouped) clients, about \(scenario.demand.rounded(toPlaces: 0)) calls a second, a service that fails for "
            + "\(outage.inSeconds). Seed \(scenario.seed)."
        let charts = results.flatMap { [""] + chart.lines(for: $0) }
        return intro.wrapped(to: terminal.width) + [chart.legend] + charts + [""] + Table(outage: self).lines + [""]
            + lesson.wrapped(to: terminal.width)
    }
}
