/// The outage as a picture that stands for itself: no script, no font and no file but its own, readable on light and on dark.
struct SVGChart {
    let outage: Outage

    private static let width = 960.0
    private static let keysInRow = 3
    private static let margin = 72.0
    private static let right = 118.0
    /// A line through every second's value would be all noise.
    private static let secondsInPoint = 4

    private var scenario: Scenario { outage.scenario }
    private var end: Double { scenario.end / .seconds(1) }
    private var failure: Range<Double> {
        scenario.outage.lowerBound / .seconds(1)..<scenario.outage.upperBound / .seconds(1)
    }

    var text: String {
        let page = SVGElement(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": "0 0 \(Self.width.text) \(height.text)",
                "role": "img", "aria-labelledby": "title description",
            ],
            [
                SVGElement("title", ["id": "title"], text: title),
                SVGElement("desc", ["id": "description"], text: outage.lesson),
                SVGElement("style", text: Self.style),
                SVGElement("rect", ["class": "page", "width": "100%", "height": "100%"]),
            ] + head + sent + answered
        )
        return (page.lines + [""]).joined(separator: "\n")
    }

    private var title: String {
        "\(scenario.clients.grouped) clients meet an outage of \((scenario.outage.upperBound - scenario.outage.lowerBound).inSeconds)"
    }

    private var head: [SVGElement] {
        let title = SVGElement("text", ["class": "title", "x": Self.margin.text, "y": "44"], text: title)
        let lesson = lesson.enumerated().map { index, line in
            SVGElement(
                "text",
                ["class": "lesson", "x": Self.margin.text, "y": (68 + 18 * Double(index)).text],
                text: line
            )
        }
        let legend = outage.results.enumerated().flatMap { index, result -> [SVGElement] in
            let x = Self.margin + 275 * Double(index % Self.keysInRow)
            let y = legendTop + 22 * Double(index / Self.keysInRow)
            return [
                SVGElement(
                    "line",
                    [
                        "class": "curve \(result.strategy)", "x1": x.text, "y1": y.text, "x2": (x + 22).text,
                        "y2": y.text,
                    ]
                ),
                SVGElement(
                    "text",
                    ["class": "key", "x": (x + 30).text, "y": (y + 4).text],
                    text: result.strategy.name
                ),
            ]
        }
        return [title] + lesson + legend
    }

    // The parts below the lesson move with its length.
    private var lesson: [String] { outage.lesson.wrapped(to: 118) }
    private var legendTop: Double { 82 + 18 * Double(lesson.count) }
    private var sentTop: Double { legendTop + 78 }
    /// The top of the lower panel. Between the panels there is a row for the mark of each strategy.
    private var answeredTop: Double { sentTop + 256 + 16 * Double(outage.results.count) }
    private var height: Double { answeredTop + 218 }

    /// Panels have the width in common, so that moments are above each other.
    private func panel(_ title: String, _ scale: Scale, top: Double, height: Double) -> SVGPanel {
        let width = Self.width - Self.margin - Self.right
        return SVGPanel(title: title, scale: scale, end: end, left: Self.margin, top: top, width: width, height: height)
    }

    private var sent: [SVGElement] {
        let scale = Scale.logarithmic(from: scenario.demand / 2, upTo: Double(outage.peak))
        let panel = panel("Requests sent per second (logarithmic)", scale, top: sentTop, height: 210)
        let middle = (panel.x(failure.lowerBound) + panel.x(failure.upperBound)) / 2
        let label = SVGElement(
            "text",
            ["class": "note middle", "x": middle.text, "y": (panel.top + 18).text],
            text: "the service fails"
        )
        return panel.frame(outage: failure) + [label] + level(scenario.capacity, "capacity", in: panel)
            + curves(in: panel) { $0.requests }
    }

    private var answered: [SVGElement] {
        let scale = Scale.linear(upTo: scenario.capacity * 1.12)
        let panel = panel("Requests answered per second", scale, top: answeredTop, height: 170)
        return panel.frame(outage: failure) + level(scenario.capacity, "capacity", in: panel)
            + level(scenario.demand, "demand", in: panel) + curves(in: panel) { $0.answered } + recoveries(in: panel)
    }

    private func curves(
        in panel: SVGPanel,
        _ value: (_ average: (requests: Double, answered: Double)) -> Double
    ) -> [SVGElement] {
        outage.results.map { result in
            let points = result.timeline.averaged(into: result.timeline.seconds.count / Self.secondsInPoint)
            return panel.curve(points.map(value), of: result.strategy)
        }
    }

    private func level(_ value: Double, _ name: String, in panel: SVGPanel) -> [SVGElement] {
        panel.level(value, "\(name), \(value.rounded(toPlaces: 0))/s")
    }

    /// Marks at the top, where each strategy has let the service recover.
    private func recoveries(in panel: SVGPanel) -> [SVGElement] {
        var taken: [Double] = []
        return outage.results.reversed().flatMap { result -> [SVGElement] in
            guard let recovery = result.recovery else { return [] }
            let x = panel.x(failure.upperBound + Double(recovery))
            // Those that are close together stand above each other.
            let row = taken.count { abs($0 - x) < 140 }
            taken.append(x)
            return panel.mark(
                failure.upperBound + Double(recovery),
                recovery == 0 ? "recovers at once" : "recovers after \(recovery) s",
                row: row,
                of: result.strategy
            )
        }
    }

    private static let style = """
        text { font: 12.5px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; fill: #4b5563 }
        .page { fill: #ffffff }
        .title { font-size: 21px; font-weight: 600; fill: #111827 } .lesson { font-size: 13.5px }
        .heading { font-size: 14px; font-weight: 600; fill: #111827 } .key { font-size: 13.5px; fill: #111827 }
        .end { text-anchor: end } .middle { text-anchor: middle } .tick { fill: #6b7280 }
        .grid { stroke: #e5e7eb } .axis { stroke: #9ca3af } .outage { fill: #f3f4f6 }
        .level { stroke: #6b7280; stroke-dasharray: 5 4 }
        .curve { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round }
        .mark { stroke: #ffffff; stroke-width: 2 }
        .moment { stroke-width: 1.2; stroke-dasharray: 2 3 }
        .curve.naive, .moment.naive { stroke: #dc2626 }
        .curve.backoff, .moment.backoff { stroke: #d97706 }
        .curve.budget, .moment.budget { stroke: #0d9488 }
        .curve.breaker, .moment.breaker { stroke: #7c3aed }
        .mark.naive { fill: #dc2626 } .mark.backoff { fill: #d97706 } .mark.budget { fill: #0d9488 }
        .mark.breaker { fill: #7c3aed }
        @media (prefers-color-scheme: dark) {
          text { fill: #b6bec9 } .tick { fill: #8b95a3 } .title, .heading, .key { fill: #f3f4f6 }
          .grid { stroke: #242c37 } .axis { stroke: #5b6675 } .outage { fill: #1a212b } .level { stroke: #8b95a3 }
          .page { fill: #0f141b } .mark { stroke: #0f141b }
          .curve.naive, .moment.naive { stroke: #f87171 }
          .curve.backoff, .moment.backoff { stroke: #fbbf24 }
          .curve.budget, .moment.budget { stroke: #2dd4bf }
          .curve.breaker, .moment.breaker { stroke: #a78bfa }
          .mark.naive { fill: #f87171 } .mark.backoff { fill: #fbbf24 } .mark.budget { fill: #2dd4bf }
          .mark.breaker { fill: #a78bfa }
        }
        """
}
