import Foundation

extension Outage {
    /// The outage as a picture in SVG that stands for itself: no script and no font, readable on light and on dark.
    var svg: String {
        let curves = results.enumerated().flatMap { index, result -> [String] in
            // A line through every second's value would be all noise.
            let points = result.timeline.averaged(into: result.timeline.seconds.count / 4)
            let recovery = result.recovery.map { "recovers after \($0) s" } ?? "does not recover"
            return [
                sent.curve(points.map(\.requests), result.strategy),
                answered.curve(points.map(\.answered), result.strategy),
                Self.text(130, 62 + 20 * index, "\(result.strategy.name): \(recovery)"),
                #"<path class="curve \#(result.strategy)" d="M72 \#(58 + 20 * index)h44"/>"#,
            ]
        }
        let lines =
            [
                #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 640" role="img">"#,
                "<title>\(title)</title>", "<desc>\(lesson)</desc>", "<style>\(Self.style)</style>",
                #"<rect class="page" width="100%" height="100%"/>"#, Self.text(72, 32, title),
            ] + sent.frame(failure) + answered.frame(failure) + curves + ["</svg>", ""]
        return lines.joined(separator: "\n")
    }

    private var failure: Range<Double> {
        scenario.outage.lowerBound / .seconds(1)..<scenario.outage.upperBound / .seconds(1)
    }

    private var sent: Panel {
        let peak = Double(results.map(\.timeline.peak).max() ?? 0)
        let levels = ["capacity": scenario.capacity, "peak": peak]
        let scale = { (value: Double) in log(max(value, 1)) / log(max(peak, 2)) }
        return Panel(
            title: "Requests sent per second (logarithmic)",
            top: 190,
            scale: scale,
            levels: levels,
            outage: self
        )
    }

    private var answered: Panel {
        let levels = ["capacity": scenario.capacity, "demand": scenario.demand]
        let scale = { [scenario] (value: Double) in value / (scenario.capacity * 1.12) }
        return Panel(title: "Requests answered per second", top: 420, scale: scale, levels: levels, outage: self)
    }

    private static func text(_ x: Int, _ y: Int, _ text: String) -> String {
        #"<text x="\#(x)" y="\#(y)">\#(text)</text>"#
    }

    /// One coordinate system: seconds to the right, requests in a second upwards.
    private struct Panel {
        let title: String
        let top: Int
        /// Places values between 0 and 1.
        let scale: (Double) -> Double
        let levels: [String: Double]
        let outage: Outage

        private func x(_ seconds: Double) -> Int { 72 + Int(seconds / (outage.scenario.end / .seconds(1)) * 770) }
        private func y(_ value: Double) -> Int { top + Int((1 - min(max(scale(value), 0), 1)) * 170) }

        func frame(_ failure: Range<Double>) -> [String] {
            let width = x(failure.upperBound) - x(failure.lowerBound)
            let times = stride(from: 0, through: outage.scenario.end / .seconds(1), by: 20).map {
                Outage.text(x($0) - 8, top + 188, "\(Int($0)) s")
            }
            return [
                #"<rect class="outage" x="\#(x(failure.lowerBound))" y="\#(top)" width="\#(width)" height="170"/>"#,
                Outage.text(72, top - 12, title), #"<path class="level" d="M72 \#(top + 170)h770"/>"#,
            ] + times
                + levels.sorted { $0.key < $1.key }.flatMap { name, value in
                    [
                        #"<path class="level" d="M72 \#(y(value))h770"/>"#,
                        Outage.text(850, y(value) + 4, "\(name), \(Int(value))/s"),
                    ]
                }
        }

        func curve(_ values: [Double], _ strategy: Strategy) -> String {
            let step = outage.scenario.end / .seconds(1) / Double(values.count)
            let points = values.enumerated().map { "\(x((Double($0) + 0.5) * step)),\(y($1))" }
            return #"<polyline class="curve \#(strategy)" points="\#(points.joined(separator: " "))"/>"#
        }
    }

    private static let style = """
        text { font: 13px system-ui, sans-serif; fill: #4b5563 } .page { fill: #ffffff } .outage { fill: #f3f4f6 }
        .level { stroke: #6b7280; stroke-dasharray: 5 4 } .curve { fill: none; stroke-width: 2.2 }
        .naive { stroke: #dc2626 } .backoff { stroke: #d97706 } .budget { stroke: #0d9488 } .breaker { stroke: #7c3aed }
        @media (prefers-color-scheme: dark) { text { fill: #b6bec9 } .page { fill: #0f141b } .outage { fill: #1a212b } }
        """
}
