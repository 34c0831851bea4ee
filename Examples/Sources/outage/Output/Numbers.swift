extension Duration {
    var inSeconds: String { "\(Int((self / .seconds(1)).rounded())) s" }
}

extension Int {
    /// The number with commas between the thousands.
    var grouped: String {
        let digits = Array(String(magnitude))
        let groups = digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digits[index])
        }
        return self < 0 ? "-" + groups : groups
    }
}

extension Double {
    var inPercent: String { "\((self * 100).rounded(toPlaces: 1)) %" }

    /// Returns the number with the given number of digits after the point.
    func rounded(toPlaces places: Int) -> String {
        let unit = (0..<places).reduce(1) { unit, _ in unit * 10 }
        let (whole, rest) = Int((self * Double(unit)).rounded()).quotientAndRemainder(dividingBy: unit)
        let digits = String(rest.magnitude)
        return places == 0
            ? whole.grouped : "\(whole.grouped).\(String(repeating: "0", count: places - digits.count))\(digits)"
    }
}
