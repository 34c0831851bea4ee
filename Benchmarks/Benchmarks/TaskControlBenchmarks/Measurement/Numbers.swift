/// A number measured several times.
struct Spread: Sendable {
    private let sorted: [Double]

    /// Computes the numbers of some values.
    ///
    /// - Parameter values: The measured values: at least one.
    init(_ values: [Double]) {
        sorted = values.sorted()
    }

    var median: Double { sorted[sorted.count / 2] }
    var min: Double { sorted[0] }
    var max: Double { sorted[sorted.count - 1] }
}

extension Duration {
    var nanoseconds: Double {
        Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9
    }
}

extension Double {
    /// Returns the number with a fixed number of decimals.
    func formatted(places: Int) -> String {
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int((magnitude * scale).rounded())
        let sign = self < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(scaled.grouped)" }
        let decimals = String(scaled % Int(scale))
        return "\(sign)\(scaled / Int(scale)).\(String(repeating: "0", count: places - decimals.count))\(decimals)"
    }
}

extension Int {
    /// The number with a comma before each three digits.
    var grouped: String {
        guard magnitude >= 1000 else { return String(self) }
        let last = String(magnitude % 1000)
        return "\((self / 1000).grouped),\(String(repeating: "0", count: 3 - last.count))\(last)"
    }
}
