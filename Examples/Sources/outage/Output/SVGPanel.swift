/// One coordinate system: seconds to the right, requests in a second upwards.
struct SVGPanel {
    let title: String
    let scale: Scale
    let end: Double
    /// The left edge of the panel on the page.
    let left: Double
    let top: Double
    let width: Double
    let height: Double

    func x(_ seconds: Double) -> Double { left + seconds / end * width }
    func y(_ value: Double) -> Double { top + (1 - scale.position(of: value)) * height }

    private static let step = 20.0

    /// Returns the elements behind the lines.
    func frame(outage: Range<Double>) -> [SVGElement] {
        let band = SVGElement(
            "rect",
            [
                "class": "outage", "x": x(outage.lowerBound).text, "y": top.text,
                "width": (x(outage.upperBound) - x(outage.lowerBound)).text, "height": height.text,
            ]
        )
        let heading = SVGElement("text", ["class": "heading", "x": left.text, "y": (top - 14).text], text: title)
        return [heading, band] + rows + columns
    }

    private var rows: [SVGElement] {
        scale.ticks.flatMap { tick in
            [
                line("grid", from: (left, y(tick)), to: (left + width, y(tick))),
                SVGElement(
                    "text",
                    ["class": "tick end", "x": (left - 10).text, "y": (y(tick) + 4).text],
                    text: tick.rounded(toPlaces: 0)
                ),
            ]
        }
    }

    private var columns: [SVGElement] {
        let bottom = top + height
        return [line("axis", from: (left, bottom), to: (left + width, bottom))]
            + stride(from: 0, through: end, by: Self.step).flatMap { second in
                [
                    line("axis", from: (x(second), bottom), to: (x(second), bottom + 5)),
                    SVGElement(
                        "text",
                        ["class": "tick middle", "x": x(second).text, "y": (bottom + 20).text],
                        text: "\(Int(second)) s"
                    ),
                ]
            }
    }

    /// Returns the line of a constant value, with its name at the right end.
    func level(_ value: Double, _ name: String) -> [SVGElement] {
        [
            line("level", from: (left, y(value)), to: (left + width, y(value))),
            SVGElement("text", ["class": "note", "x": (left + width + 8).text, "y": (y(value) + 4).text], text: name),
        ]
    }

    /// Returns a line through values that are spread over the whole time.
    func curve(_ values: [Double], of strategy: Strategy) -> SVGElement {
        let step = end / Double(values.count)
        let points = values.enumerated().map { index, value in
            "\(x((Double(index) + 0.5) * step).text),\(y(value).text)"
        }
        return SVGElement("polyline", ["class": "curve \(strategy)", "points": points.joined(separator: " ")])
    }

    /// Returns the mark of a moment of one strategy, with words above the panel, where there is room for several rows.
    func mark(_ seconds: Double, _ words: String, row: Int, of strategy: Strategy) -> [SVGElement] {
        let isNearEnd = seconds > end * 0.8
        let y = top - 10 - 16 * Double(row)
        return [
            line("moment \(strategy)", from: (x(seconds), y), to: (x(seconds), top + height)),
            SVGElement("circle", ["class": "mark \(strategy)", "cx": x(seconds).text, "cy": y.text, "r": "5.5"]),
            SVGElement(
                "text",
                [
                    "class": isNearEnd ? "note end" : "note", "x": (x(seconds) + (isNearEnd ? -9 : 9)).text,
                    "y": (y + 4).text,
                ],
                text: words
            ),
        ]
    }

    private func line(_ kind: String, from: (Double, Double), to: (Double, Double)) -> SVGElement {
        SVGElement(
            "line",
            ["class": kind, "x1": from.0.text, "y1": from.1.text, "x2": to.0.text, "y2": to.1.text]
        )
    }
}

extension Double {
    /// The number with as many digits as a tenth of a pixel needs.
    var text: String {
        let tenths = Int((self * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : rounded(toPlaces: 1).filter { $0 != "," }
    }
}
